"""A Hugging Face Hub in a folder, for tests without a network."""

import shutil
from types import SimpleNamespace


class LocalHub:
    """Stands in for ``huggingface_hub``: repositories are folders in a folder."""

    def __init__(self, root):
        self.root, self.calls = root, []

    def snapshot_download(self, repo_id, *, allow_patterns, **options):
        self.calls.append((repo_id, allow_patterns, options))
        if not (self.root / repo_id).is_dir():
            raise OSError(f"404: no {repo_id}.\nRequest ID: 1")
        return str(self.root / repo_id)

    def HfApi(self, token):  # noqa: N802  the library's own name
        def create_repo(repo_id, *, private, exist_ok):
            (self.root / repo_id).mkdir(parents=True, exist_ok=exist_ok)
            return SimpleNamespace(repo_id=repo_id)

        def upload_folder(*, repo_id, folder_path, **options):
            self.calls.append((repo_id, token, options))
            shutil.copytree(folder_path, self.root / repo_id, dirs_exist_ok=True)
            return f"hub/{repo_id}/commit/1"

        return SimpleNamespace(
            create_repo=create_repo, upload_folder=upload_folder, create_branch=lambda *_, **__: None
        )
