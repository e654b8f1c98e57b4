from __future__ import annotations

from box.containerd import was_swept


def test_an_import_that_lost_its_layers_to_the_garbage_collector_is_told_from_others() -> None:
    swept = (
        'ctr: failed to prepare extraction snapshot "extract-1 sha256:aa": parent snapshot sha256:92fb does not exist: '
        "not found"
    )

    assert was_swept(swept)
    assert not was_swept("ctr: open /x.tar: no such file or directory")
    assert not was_swept("ctr: unrecognized image format")
