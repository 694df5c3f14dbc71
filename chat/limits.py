"""Limits that several packages share. Lengths are in code points."""

MEGABYTE = 1_000_000  # bytes
MEBIBYTE = 1_048_576
MAX_BODY_BYTES = MEBIBYTE  # of a request, without the files in it; for the API see API_MAX_BODY_MB
MAX_REPLY_CHARS = 400_000  # code points of a run's text and of its reasoning; of both together for a call
MAX_SITE_NAME_CHARS = 40
MAX_MODEL_CHARS = 200  # of a model's id, as the columns hold
MAX_LIVE_RUNS = 1_500  # per process, and as many calls; further runs are queued, further calls refused

# Of conversations, their messages and what belongs to them, as the columns hold.
TITLE_LENGTH = 80
MAX_TAG_CHARS = 40
MAX_REASON_CHARS = 1_000  # of feedback
MAX_CITATIONS = 100  # of a reply
MAX_CITATION_TITLE_CHARS = 200
MAX_URL_CHARS = 2_000
MAX_PASSAGE_CHARS = 4_000
MAX_DATE_CHARS = 10  # an ISO 8601 date
MAX_ATTACHMENTS = 8  # of a question
MAX_TOOL_NAME_CHARS = 100
MAX_STEP_SUMMARY_CHARS = 300
MAX_PERMISSION_CHARS = 300  # its key: the host of an address, or a server and its tool
MAX_ALLOWED_CALLS = 100  # permissions of a conversation
MAX_FILE_NAME_CHARS = 100
MAX_ALT_CHARS = 500

# Of prompts, assistants and memories.
MAX_PROMPT_TITLE_CHARS = 100
MAX_COMMAND_CHARS = 40
MAX_PROMPT_CHARS = 20_000
MAX_ASSISTANT_NAME_CHARS = 80
MAX_DESCRIPTION_CHARS = 300
MAX_INSTRUCTIONS_CHARS = 20_000
MAX_PICTURE_CHARS = 16  # of one emoji, which can be a sequence
MAX_STARTER_QUESTION_CHARS = 300
MAX_STARTER_QUESTIONS = 4
MAX_ASSISTANT_DOCUMENTS = 8
MAX_FACT_CHARS = 500  # of a memory
IMAGE_SIDE = 128  # pixels of the square
