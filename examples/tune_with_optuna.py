"""Tune SEGA with Optuna: choose on validation folds, look at the test folds once.

    python examples/tune_with_optuna.py 20           # trials, on a small synthetic set
    python examples/tune_with_optuna.py 50 PROTEINS  # any TU set

Everything is kept in the folder results: a trial done before is read, not run again.
"""

import sys

import optuna

from adapters import graphcl
from sega_anchor.report import Result

EPOCHS = 20


def run(trial: optuna.Trial | optuna.trial.FrozenTrial, dataset: str) -> Result:
    """Train and evaluate with what a trial suggests."""
    config = graphcl.Config(
        temperature=trial.suggest_float("temperature", 0.1, 1.0, step=0.1),
        height=trial.suggest_int("height", 2, 5),
    )

    def tell(numbers: dict[str, float]) -> None:
        if "validation" in numbers:  # after 5, 10, 15 and 20 epochs of each seed
            step = int(numbers["seed"] * EPOCHS + numbers["epoch"])
            trial.report(numbers["validation"], step)
            if trial.should_prune():
                raise optuna.TrialPruned

    return graphcl.run(
        dataset,
        anchor=True,
        config=config,
        seeds=3,
        epochs=EPOCHS,
        evaluate_at=(5, 10, 15, 20),
        results="results",
        on_epoch=tell,
    )


def main() -> None:
    """Print what was chosen, and its test accuracy."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    dataset = sys.argv[2] if len(sys.argv) > 2 else "synthetic"
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=0),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
    )
    study.optimize(lambda trial: run(trial, dataset).validation.mean, trials)
    best = run(study.best_trial, dataset)  # read from its record
    print(f"Chosen: {study.best_params}")
    print(f"Validation: {best.validation} (to choose by)")
    print(f"Test: {best.accuracy} (to report)")


if __name__ == "__main__":
    main()
