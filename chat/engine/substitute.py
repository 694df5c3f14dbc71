"""Why another model answered than the one that was asked, in a sentence."""

from django.utils.translation import gettext, gettext_noop

from chat.upstream.errors import Kind

SENTENCES: dict[str, str] = {
    Kind.BUSY: gettext_noop("Answered by %(model)s, because %(asked)s was busy."),
    Kind.THROTTLED: gettext_noop("Answered by %(model)s, because %(asked)s took no more in this minute."),
    Kind.QUOTA: gettext_noop("Answered by %(model)s, because today’s allowance for %(asked)s is used up."),
    Kind.UNKNOWN_MODEL: gettext_noop("Answered by %(model)s, because Cloudflare has no %(asked)s now."),
}
OTHERWISE = gettext_noop("Answered by %(model)s, because %(asked)s did not answer.")


def sentence(because: str) -> str:
    """Untranslated, with places for the names `model` and `asked`; `because` is the code of a failure."""
    return SENTENCES.get(because, OTHERWISE)


def told(because: str, model: str, asked: str) -> str:
    """With the names of both, in the language of who asks."""
    return gettext(sentence(because)) % {"model": model, "asked": asked}
