"""The doors that the administration chooses."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0003_readings_of_files'),
    ]

    operations = [
        migrations.CreateModel(
            name='SiteDoor',
            fields=[
                ('position', models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                (
                    'kind',
                    models.CharField(
                        blank=True,
                        choices=[
                            ('everyday', 'Everyday'),
                            ('careful', 'Careful'),
                            ('pictures', 'Pictures'),
                            ('code', 'Code'),
                        ],
                        default='',
                        max_length=8,
                    ),
                ),
                ('name', models.CharField(blank=True, default='', max_length=30)),
                ('about', models.CharField(blank=True, default='', max_length=100)),
                ('model', models.CharField(blank=True, default='', max_length=200)),
            ],
            options={
                'ordering': ('position',),
                'default_permissions': (),
                'constraints': [
                    models.UniqueConstraint(
                        condition=~models.Q(kind=''), fields=('kind',), name='site_door_one_kind'
                    ),
                    models.CheckConstraint(
                        condition=~models.Q(kind='') | ~(models.Q(name='') | models.Q(model='')),
                        name='site_door_own_is_named',
                    ),
                ],
            },
        ),
    ]
