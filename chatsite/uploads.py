"""The refusal of files in forms, except by the views that set a handler of their own."""

from typing import Any, NoReturn

from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler


class NoFiles(FileUploadHandler):
    """Refuse a form with a file before any of it is stored."""

    def new_file(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TooManyFilesSent("This form takes no files.")
