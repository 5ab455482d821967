"""Methods that calibrate themselves are swept by plain cuts."""

from __future__ import annotations

from neardup.evaluation.planted_experiment import _setting
from neardup.evaluation.swept_settings import settings_of
from neardup.methods.rareshingles import Rareshingles


def test_a_sweep_begins_at_its_lowest_threshold_and_calibrates_nothing() -> None:
    setting = _setting(Rareshingles(), (0.3, 0.5))
    assert [cut.threshold for cut in setting.cuts] == [0.3, 0.4, 0.5]
    assert (setting.wide.threshold, setting.wide.calibrate) == (0.3, False)


def test_without_a_threshold_it_is_evaluated_as_it_decides() -> None:
    (setting,) = settings_of([Rareshingles()])
    assert [str(cut) for cut in setting.cuts] == ["auto"]
    assert setting.wide.calibrate
    command = setting.command(setting.cuts[0])
    assert command.endswith("--method rareshingles --threshold auto -o OUT")
