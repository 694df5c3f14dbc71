"""The storage of attachments in a bucket, for sites on several hosts. Needs requirements-s3.txt."""

from typing import Any

from botocore.config import Config
from storages.backends.s3 import S3Storage

# A file that cannot be read within half a minute fails: somebody waits for it.
S3_CONNECT_SECONDS, S3_READ_SECONDS, S3_ATTEMPTS = 3, 10, 2
MEMORY_BYTES = 262_144  # of an object that is read; a larger one is read into a temporary file


class S3AttachmentStorage(S3Storage):
    """A private bucket. A file is named by the hash of its content, so to write it again changes nothing."""

    def __init__(self, **options: Any) -> None:
        config = Config(
            connect_timeout=S3_CONNECT_SECONDS,
            read_timeout=S3_READ_SECONDS,
            retries={"total_max_attempts": S3_ATTEMPTS, "mode": "standard"},
            # Other services than Amazon's know no checksums of its own.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        fixed = {
            "client_config": config,
            "location": "attachments",
            "file_overwrite": True,
            "default_acl": None,
            "max_memory_size": MEMORY_BYTES,
        }
        super().__init__(**options, **fixed)
