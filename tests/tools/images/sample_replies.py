"""The questions and replies in the pictures."""

SAVING = "€150 a month at 4 %: what is it worth after 5, 10 and 20 years?"
SAVING_SAID = """\
Each deposit earns interest until the end, so **time does more than the rate**:

| Years | Paid in | Interest | Worth |
|------:|--------:|---------:|------:|
| 5 | €9,000 | €945 | €9,945 |
| 10 | €18,000 | €4,087 | €22,087 |
| 20 | €36,000 | €19,016 | €55,016 |

This computes it for other amounts:

```python
def worth(monthly: float, rate: float, years: int) -> float:
    \"\"\"What deposits at the end of each month grow to.\"\"\"
    total = 0.0
    for _ in range(years * 12):
        total = total * (1 + rate / 12) + monthly
    return total
```

Two things change the picture:

- **Inflation**: at 2 % a year, €55,016 in twenty years buys what €37,024 buys today.
- **Tax** on the interest, which depends on where you live.
"""

RAIN = "It will rain all Saturday. Plan the day with two children, 5 and 9."
RAIN_SAID = """\
Rain outside, so **something to make, something to move, something to eat**:

| When | What | You need |
|------|------|----------|
| 10:00 | A marble run down the stairs | Cardboard rolls, tape |
| 12:30 | Pizza faces: everyone lays their own | Dough, vegetables |
| 14:00 | Puddle walk, one photo of each colour | Rubber boots, a phone |
| 16:00 | Fort of blankets, and a story in it | Chairs, a torch |

- Let the **older one keep the time**: it saves you the reminding.
- Start the dough at eleven, then it is ready by itself.
"""

BREAD = "How do I keep a sourdough starter alive while I am away for three weeks?"
BREAD_SAID = """\
Three weeks are no trouble: **cold slows it down**.

1. Feed it one part starter, two parts flour, two parts water.
2. Let it rise for an hour.
3. Put it into the fridge, the lid loose.

When you are back:

- pour off the dark liquid,
- feed it twice a day,
- bake once it **doubles within six hours**, mostly on the second day.
"""

ROUTER = "Our router drops out every night at three. Where do I look first?"
ROUTER_SAID = """\
Something repeats at that hour, so look for **what runs then**:

- an update or a restart of its own
- a new address from the provider, often every 24 hours
- a backup that fills the line
"""
UPDATE = "It is the update. Can I move it to noon?"
UPDATE_SAID = "Yes: open *Maintenance*, then *Automatic updates*, and choose another time."

REPLIES = {SAVING: SAVING_SAID, RAIN: RAIN_SAID, BREAD: BREAD_SAID}
