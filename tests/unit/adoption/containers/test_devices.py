import pytest

from gateway.adoption.containers.devices import Npus, npus_of


@pytest.mark.parametrize(
    ("devices", "numbers"),
    [
        (["/dev/davinci0"], (0,)),
        (["/dev/davinci1", "/dev/davinci0", "/dev/davinci1"], (1, 0)),
        (["/dev/davinci3:/dev/davinci0"], (3,)),
        (["/dev/davinci3:/dev/davinci3:rwm", "/dev/davinci15:rw"], (3, 15)),
        (["/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"], ()),
        (["/dev/davinci{0,1}"], (0, 1)),
        (["/dev/davinci{2..4}"], (2, 3, 4)),
        (["/dev/vdavinci100", "/dev/nvidia0", ""], ()),
        (["huawei.com/npu=2"], (2,)),
        (["huawei.com/npu=all"], None),
        (["nvidia.com/gpu=all"], ()),
        (["/dev"], None),
        (["/dev/"], None),
    ],
)
def test_devices(devices: list[str], numbers: tuple[int, ...] | None) -> None:
    assert npus_of(devices, {}) == Npus(numbers)


@pytest.mark.parametrize(
    "device", ["/dev/davinci[0-3]", "/dev/davinci*", "/dev/davinci", "huawei.com/npu=x"]
)
def test_a_pattern_is_no_device(device: str) -> None:
    assert npus_of([device, "/dev/davinci1"], {}) == Npus((1,), (device,))


@pytest.mark.parametrize(
    ("listed", "numbers"),
    [
        ("0", (0,)),
        ("0,1", (0, 1)),
        (" 2, 3 ", (2, 3)),
        ("0-3,5", (0, 1, 2, 3, 5)),
        ("Ascend910-0,Ascend910-1", (0, 1)),
        ("all", None),
        ("void", ()),
        ("", ()),
    ],
)
def test_the_list_of_the_container_runtime(listed: str, numbers: tuple[int, ...] | None) -> None:
    environment = {"ASCEND_VISIBLE_DEVICES": listed}
    assert npus_of([], environment, runtime="ascend") == Npus(numbers)
    assert npus_of([], environment) == Npus(numbers)


@pytest.mark.parametrize("listed", ["x", "3-1", "0-999", "0;1", "1 2"])
def test_a_list_that_is_none_is_told(listed: str) -> None:
    found = npus_of([], {"ASCEND_VISIBLE_DEVICES": listed}, runtime="ascend")
    assert found == Npus((), (listed,))


def test_the_list_counts_only_where_the_runtime_may_be_ascends() -> None:
    environment = {"ASCEND_VISIBLE_DEVICES": "4,5"}
    assert npus_of(["/dev/davinci0"], environment) == Npus((0,))
    assert npus_of([], environment, runtime="runc") == Npus(())
    assert npus_of(["/dev/davinci0"], environment, runtime="ascend") == Npus((0, 4, 5))


def test_the_numbers_of_virtual_npus_are_not_those_of_npus() -> None:
    environment = {"ASCEND_VISIBLE_DEVICES": "100", "ASCEND_RUNTIME_OPTIONS": "VIRTUAL"}
    assert npus_of([], environment, runtime="ascend") == Npus((), ("100",))


def test_a_privileged_container_has_all() -> None:
    assert npus_of(["/dev/davinci0"], {}, is_privileged=True) == Npus(None)
