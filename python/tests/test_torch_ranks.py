"""Two processes train one model: rank 0 decides, and both do the same."""
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.distributed.is_available():
    pytest.skip("this PyTorch has no torch.distributed", allow_module_level=True)


def train(rank, folder):
    from kolmo.predict import Watch
    from predict_data import forecaster, loss_of, net, weights

    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(net())
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)

    def ends_low(ahead, length):  # only rank 0 is told that decays help
        return 1e-12 if rank == 0 and ahead >= length else 1.0

    watch = Watch(optimizer, target=1e-9, control=True, every=20, warmup=40, overhead=None, evaluate=lambda: loss_of(model) + rank,
                  forecaster=forecaster(decayed=ends_low))
    torch.manual_seed(rank)
    phases = []
    for step in range(130):
        loss = loss_of(model, torch.randint(32, (16,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 90 and rank == 1:
            loss = loss * float("nan")  # of this rank alone, which does not decide
        watch.step(loss)
        phases.append(watch.phase)
    torch.save({"weights": weights(model), "averages": [v.clone() for v in watch.averages.values()], "phases": phases,
                "decisions": [(d.step, d.action, d.length) for d in watch.decisions], "charged": watch.charged, "steps": watch.steps}, f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_rank_0_decides_and_the_weights_stay_equal(tmp_path):
    torch.multiprocessing.spawn(train, (str(tmp_path),), nprocs=2)
    a, b = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1))
    for key in ("weights", "averages"):
        assert all(torch.equal(x, y) for x, y in zip(a[key], b[key], strict=True))
    for key in ("phases", "decisions", "charged", "steps"):
        assert a[key] == b[key]
    assert [d for d in a["decisions"] if d[1] == "start decay"][0][0] == 40 and a["charged"] > a["steps"] and "predict" in a["phases"]
