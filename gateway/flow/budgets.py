"""The retry budget of each model."""

from collections.abc import Collection

from gateway.config.schema import RecoveryConfig
from gateway.recovery.budget import Budget, earn, full, spend


class Budgets:
    """Budgets by model name; there are as many as models in the routing file."""

    __slots__ = ("_budgets", "rules")

    def __init__(self, rules: RecoveryConfig) -> None:
        self.rules = rules
        self._budgets: dict[str, Budget] = {}

    def __repr__(self) -> str:
        return f"<Budgets { ({n: round(b.left, 1) for n, b in self._budgets.items()}) }>"

    def apply(self, rules: RecoveryConfig, models: Collection[str]) -> None:
        """Other rules hold, for these models; budgets begin anew where the rules differ."""
        is_same = rules == self.rules
        self.rules = rules
        self._budgets = {n: b for n, b in self._budgets.items() if is_same and n in models}

    def earn(self, model: str, now: float) -> None:
        """A request of the model came in."""
        self._budgets[model] = earn(self._of(model, now), now)

    def has_left(self, model: str, now: float) -> bool:
        """Whether a retry may be made."""
        return spend(self._of(model, now)) is not None

    def spend(self, model: str, now: float) -> bool:
        """Takes one retry; false if there is none left."""
        left = spend(self._of(model, now))
        if left is not None:
            self._budgets[model] = left
        return left is not None

    def _of(self, model: str, now: float) -> Budget:
        budget = self._budgets.get(model)
        if budget is None:
            rules = self.rules
            return full(rules.retry_budget_ratio, float(rules.retry_burst), now)
        return budget
