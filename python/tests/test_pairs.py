"""kolmo.mutual_information_matrix: the values of the command and of mutual_information, and its errors."""
import json
import subprocess

import numpy as np
import pytest

import kolmo
from flow_data import KOLMO


def series(rows=200):
    generator = np.random.default_rng(5)
    x = generator.standard_normal((rows, 3))
    x[:, 1] += x[:, 0]
    return x


def test_pairs_are_those_of_the_command_and_of_each_pair(tmp_path):
    x = series()
    file = tmp_path / "x.csv"
    np.savetxt(file, x, delimiter=",", fmt="%.17g")
    found = kolmo.mutual_information_matrix(x, surrogates=19, seed=2)
    said = json.loads(subprocess.run([KOLMO, "mi", file, "--all-pairs", "--surrogates", "19", "--seed", "2", "--json"], check=True,
                                     capture_output=True, text=True).stdout)
    assert found.pairs == said["pairs"]
    assert found.values[0, 1] == found.values[1, 0] == found.pairs[0]["value"]
    assert np.isnan(np.diag(found.values)).all() and np.isnan(np.diag(found.p_adjusted)).all()
    assert found.values[0, 2] == kolmo.mutual_information(x[:, 0], x[:, 2], seed=2).value
    assert (found.variables, found.units, found.test) == (["0", "1", "2"], "nats", "surrogates")
    np.testing.assert_array_equal(found.p_adjusted, found.p_adjusted.T)


def test_without_a_test_there_are_no_p_values():
    found = kolmo.mutual_information_matrix(series(), given=[2])
    assert found.values.shape == (2, 2) and found.test == "" and np.isnan(found.p_values).all()


def test_errors_name_the_argument():
    x = series()
    with pytest.raises(kolmo.InvalidArgument, match="X: is one series; a matrix of pairs has two or more"):
        kolmo.mutual_information_matrix(x[:, 0])
    with pytest.raises(kolmo.InvalidArgument, match="needs two columns or more, and '1' is the only one; columns, exclude and given"):
        kolmo.mutual_information_matrix(x, columns=[1])
    with pytest.raises(TypeError, match="X: "):
        kolmo.mutual_information_matrix({"a": x})
    with pytest.raises(TypeError, match="unexpected keyword argument 'all_pairs'"):
        kolmo.mutual_information_matrix(x, all_pairs=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'correction'"):
        kolmo.mutual_information(x[:, 0], x[:, 1], correction="none")
