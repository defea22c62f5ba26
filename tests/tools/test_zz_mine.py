import pytest
from blendwright.tools.catalog import tools
MINE={"material","light","camera","curve","text","render"}
NAMES=[n for n in tools() if n.split(".")[0] in MINE or n in("scene.set_frame_range","scene.set_units","scene.set_render","scene.set_world")]
def ready(stage,n,i):
    ex=tools()[n].examples[i]
    for t,a in ex.given: stage.do(t,a)
    files={}
    if "path" in ex.args: files={ex.args["path"]: str(stage.scratch/ex.args["path"])}
    return dict(ex.args), files
CASES=[(n,i) for n in NAMES for i in range(len(tools()[n].examples))]
@pytest.mark.parametrize("n,i",CASES)
def test_example(stage,n,i):
    args,files=ready(stage,n,i)
    a0=stage.state.root()
    for way in ("inverse","memfile"):
        got=stage.call(n,args,rehearse=way,files=files)
        assert got["ok"],got
        assert got["reverted_by"]==way,got
        assert stage.state.full_root()==a0,way
    r=stage.call(n,args,files=files); assert r["ok"],r
    t=tools()[n]
    again=stage.call(n,args,files=files)
    if t.idempotence.value=="idempotent":
        assert again["ok"],again
        assert again["after"]==r["after"]
    else: assert not again["ok"]
