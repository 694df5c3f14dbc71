"""The earlier conversations in the pictures. Runs in a process of the site's own: `sow()`."""

from datetime import datetime, timedelta

from django.utils import timezone

from chat.models import Conversation, Feedback, Message, User
from tests.admin.seed import run_of
from tests.tools.images.sample_replies import ROUTER, ROUTER_SAID, UPDATE, UPDATE_SAID

GLM, GEMMA, OSS = "@cf/zai-org/glm-4.7-flash", "@cf/google/gemma-4-26b-a4b-it", "@cf/openai/gpt-oss-120b"
UNREAD = "Along the Danube by bike"
# Owner, title, hours ago, model.
TALKS = [
    ("alice", "Python: sum a column of a CSV", 2, GLM),
    ("alice", "A letter to the landlord", 25, GLM),
    ("carol", "Spanish verbs for Monday", 26, GEMMA),
    ("alice", "Speech for Grandma", 27, GEMMA),
    ("bob", "Running plan for ten kilometres", 49, GLM),
    ("alice", UNREAD, 74, GLM),
    ("carol", "Which bicycle for a child of six?", 97, GLM),
    ("alice", "What grows in the shade?", 120, OSS),
    ("bob", "Compare three heat pumps", 30 * 24, OSS),
    ("alice", "Interest, for a child of ten", 31 * 24, GEMMA),
    ("alice", "Names for a sailing boat", 33 * 24, GLM),
    ("carol", "Poster for the school fair", 34 * 24, GEMMA),
]


def sow() -> None:
    """The sidebar's and the review's past. Prints the id of the conversation to review."""
    now = timezone.now()
    for owner, title, hours, model in TALKS:
        talk(owner, title, model, now - timedelta(hours=hours), [(title, "Gladly.")])
    turns = [(ROUTER, ROUTER_SAID), (UPDATE, UPDATE_SAID)]
    reviewed = talk("bob", "The router at night", OSS, now - timedelta(hours=3), turns)
    helped, failed = reviewed.messages.filter(role="assistant").order_by("created")
    Feedback.objects.create(message=helped, user=reviewed.user, up=True)
    Feedback.objects.create(message=failed, user=reviewed.user, up=False, reason="Mine has no such menu.")
    print(reviewed.pk)


def talk(owner: str, title: str, model: str, begun: datetime, turns: list[tuple[str, str]]) -> Conversation:
    user = User.objects.get(username=owner)
    made = Conversation.objects.create(user=user, title=title, model=model, created=begun)
    last, at = None, begun
    for number, (question_text, reply_text) in enumerate(turns):
        at = begun + number * timedelta(minutes=3)
        question = Message.objects.create(
            conversation=made, role="user", text=question_text, parent=last, created=at
        )
        last = Message.objects.create(
            conversation=made, role="assistant", text=reply_text, parent=question, model=model,
            created=at + timedelta(milliseconds=1),
        )  # fmt: skip
        words = len(reply_text.split())
        used = {"prompt_tokens": 40 + 90 * number, "completion_tokens": words * 4 // 3}
        run_of(last, at, finished=at + timedelta(seconds=0.4 + words * 0.02), **used).save()
    seen = begun if title == UNREAD else timezone.now()
    Conversation.objects.filter(pk=made.pk).update(active_leaf=last, updated=at, last_seen=seen)
    return made
