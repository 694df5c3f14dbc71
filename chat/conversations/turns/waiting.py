"""The database side of runs that wait: the answers for their calls, and the claim of a run that goes on.

An answer is written into the step, whoever owns the run; the owner alone writes the rest of the step. A run
may be answered before it has begun to wait.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.catalog.catalog import catalog_for_user
from chat.db.executor import write_lock
from chat.exceptions import Conflict, NotFound, RequestError
from chat.files.passages.best_passages import Ranked, RankingRequest
from chat.limits import MAX_ALLOWED_CALLS
from chat.models import Conversation, Preferences, Run, RunChunk, Step
from chat.ownership.protocol import Lease
from chat.ownership.recovery import end_run
from chat.upstream.catalog import Catalog
from chat.upstream.chat_request import ChatRequest
from chat.upstream.errors import ErrorKind

from .planner import Planner

ANSWER_WITHIN = timedelta(days=1)  # afterwards a call counts as declined
MAX_SWEPT = 100  # runs of one sweep
CHANGED_BY_A_CLAIM = (
    "waited_seconds", "status", "worker_id", "epoch", "answered_by", "fallback_reason",
)  # fmt: skip
LEAST_WAIT_SECONDS = 0.001  # that counts, also where the clock was set back


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A run that has waited and is this process's now, its text so far, and its prompt.

    `language` is the one that its person has chosen; "" for the browser's.
    """

    run: Run
    text: str
    reasoning: str
    request: ChatRequest
    language: str = ""


def answer(run: Run, number: int, given: Step.Answer) -> Step:
    """Store the person's answer for a call. For the conversation it holds for calls alike, later ones too.

    The same answer may be repeated. Raises NotFound, and Conflict if the call does not wait for an answer.
    """
    with write_lock(), transaction.atomic():
        step = Step.objects.filter(run=run, number=number).first()
        if step is None:
            raise NotFound(_("This reply doesn’t exist."))
        unanswered = Step.objects.unanswered().filter(run=run)
        asked = unanswered.filter(number=number)
        if given == Step.Answer.CONVERSATION:
            asked = unanswered.filter(permission=step.permission)
        if asked.update(answer=given) and given == Step.Answer.CONVERSATION:
            _allow(run.conversation_id, step.permission)
        step.refresh_from_db(fields=["answer"])
        if step.answer != given:
            raise Conflict(_("This call doesn’t wait for an answer any more."))
    return step


def _allow(conversation: uuid.UUID, permission: str) -> None:
    row = Conversation.objects.select_for_update(no_key=True).get(pk=conversation)
    allowed = [each for each in row.allowed_calls if each != permission]
    row.allowed_calls = [*allowed, permission][-MAX_ALLOWED_CALLS:]
    row.save(update_fields=["allowed_calls"])


def decline_late() -> list[uuid.UUID]:
    """Decline the calls that nobody has answered in time. Return waiting runs without an unanswered call.

    Both in portions: there may be many that wait, and those that nobody answers hold up no others.
    """
    waiting = Run.objects.live().filter(status=Run.Status.WAITING).order_by("created")
    unanswered = Step.objects.unanswered()
    before = timezone.now() - ANSWER_WITHIN
    late = unanswered.filter(run=OuterRef("pk"), created__lt=before)
    runs = waiting.filter(Exists(late)).values_list("pk", flat=True)
    if found := list(runs[:MAX_SWEPT]):
        with write_lock():
            unanswered.filter(run__in=found, created__lt=before).update(answer=Step.Answer.DECLINED)
    answered = waiting.exclude(Exists(unanswered.filter(run=OuterRef("pk"))))
    return list(answered.values_list("pk", flat=True)[:MAX_SWEPT])


def claim(
    run: uuid.UUID, lease: Lease[uuid.UUID], catalog: Catalog, *, queued: bool, ranked: Ranked | None
) -> ClaimedRun | tuple[int, RankingRequest] | None:
    """Take a waiting run over and return it; None if a call is not answered, or another process was faster.

    If its prompt needs a ranking of documents first, claim nothing and return the person and what is wanted.
    A run whose prompt cannot be built any more ends as failed. `queued`: it begins in the queue.
    """
    found = Run.objects.select_related("message", "conversation__user", "conversation__assistant_version")
    row = found.filter(pk=run, status=Run.Status.WAITING, finished=None).first()
    steps = Step.objects.filter(run=run, state=Step.State.WAITING)
    if row is None or steps.filter(answer="").exists():
        return None
    if not row.conversation.user.is_active:
        end_run(row, {"status": Run.Status.STOPPED})
        return None
    try:
        request = Planner(catalog_for_user(catalog, row.conversation.user), ranked).go_on(row)
    except RequestError as error:
        code, message = ErrorKind.INVALID.value, str(error)[:500]
        end_run(row, {"status": Run.Status.FAILED, "error_code": code, "error_message": message})
        return None
    if isinstance(request, RankingRequest):
        return row.user_id, request
    asked = steps.order_by("-created").values_list("created", flat=True).first() or row.created
    waited_before = row.waited_seconds
    row.waited_seconds += max(LEAST_WAIT_SECONDS, (timezone.now() - asked).total_seconds())
    row.status = Run.Status.QUEUED if queued else Run.Status.RUNNING
    row.worker_id, row.epoch = lease.worker, lease.epoch
    if request.model.id != row.model:
        row.answered_by, row.fallback_reason = request.model.id, ErrorKind.UNKNOWN_MODEL.value
    columns = {name: getattr(row, name) for name in CHANGED_BY_A_CLAIM}
    # Each claim changes the seconds: the run may have gone on since it was read, and wait for other answers.
    unclaimed = Run.objects.filter(pk=run, status=Run.Status.WAITING, waited_seconds=waited_before)
    with write_lock():
        if not unclaimed.update(**columns):
            return None
    preferences = Preferences.of(row.conversation.user)
    language = preferences.language if preferences else ""
    return ClaimedRun(row, *RunChunk.objects.texts(run), request, language)
