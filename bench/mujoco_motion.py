#!/usr/bin/env python3
"""The motion rocking_block_zeno compared with MuJoCo's time steps of the same block: 1 kg, 1 m wide and 2 m high, on a
plane with friction 1, turning about its left corner with 1 rad/s.

  python3 bench/mujoco_motion.py build-release/bin/carom > motion.json

Exact (section 4.3 of Halm and Posa): the apex at 0.2198 rad, the first return at 0.98733 s, after which it keeps
0.7 of its speed, rest at 2.671421 s. MuJoCo: elliptic cones, Newton's solver, implicit integration, contacts as
they come (solref 0.02 s) and stiff (solref = 2 dt), at several time steps; it rests from where it turns by no more
than 0.01 rad/s. Seconds are of one motion of 4 s, process time, one thread: MuJoCo steps on while the block rests,
carom has no steps there; its seconds are of 2,000 motions of one call, whose impacts are drawn."""
import json
import math
import resource
import subprocess
import sys
import time

EXACT = {"kept": 0.7, "rest": 2.671421}
DURATION = 4.0
SETTINGS = {"dt1ms": (1e-3, 0.02), "dt1ms_stiff": (1e-3, 2e-3), "dt0.1ms_stiff": (1e-4, 2e-4)}
MOTIONS = 2000
PASSES = 5


def exact():
    """The apex by energy, the first return by a quarter period's quadrature."""
    half, inertia = math.atan2(1.0, 2.0), 5.0 / 12.0 + 1.25
    reach, weight = math.sqrt(1.25), 9.81
    top = math.cos(half) + 0.5 * inertia / (weight * reach)
    apex = half - math.acos(top)
    # Midpoints in w of angle = apex (1 - w^2), which takes the root at the apex away.
    points, total = 200000, 0.0
    for i in range(points):
        w = (i + 0.5) / points
        angle = apex * (1.0 - w * w)
        rate = 2.0 * weight * reach / inertia * (top - math.cos(half - angle))
        total += 2.0 * apex * w / math.sqrt(rate) / points
    return apex, 2.0 * total


def mujoco_block(mujoco, step, solref):
    model = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="{step}" cone="elliptic" solver="Newton" integrator="implicitfast" gravity="0 0 -9.81"/>
  <default><geom solref="{solref} 1"/></default>
  <worldbody>
    <geom type="plane" size="0 0 1" condim="3" friction="1 0 0"/>
    <body pos="0 0 1"><freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.5 {5 / 12!r} 0.5"/>
      <geom type="box" size="0.5 0.25 1" condim="3" friction="1 0 0"/>
    </body>
  </worldbody>
</mujoco>""")
    return model, mujoco.MjData(model)


def start(mujoco, model, data):
    mujoco.mj_resetData(model, data)
    data.qvel[:] = [-1.0, 0.0, 0.5, 0.0, -1.0, 0.0]


def followed(mujoco, model, data):
    """Apex of the first swing, first return, what the impact there keeps, when it rests for good."""
    start(mujoco, model, data)
    apex, returned, fastest, kept, rest = 0.0, math.nan, 0.0, math.nan, math.nan
    swing = 0
    steps = round(DURATION / model.opt.timestep)
    for k in range(steps):
        mujoco.mj_step(model, data)
        angle = -2.0 * math.asin(max(-1.0, min(1.0, data.qpos[5])))
        rate = -data.qvel[4]
        if swing == 0:
            apex = max(apex, angle)
            fastest = max(fastest, -rate)
            if angle < 0.0:
                swing, returned = 1, (k + 1) * model.opt.timestep
                deepest = angle
        elif swing == 1:
            deepest = min(deepest, angle)
            if rate > 0.0:  # the other swing's apex: its energy says what speed it began with
                half, inertia = math.atan2(1.0, 2.0), 5.0 / 12.0 + 1.25
                lifted = 9.81 * math.sqrt(1.25) * (math.cos(half + deepest) - math.cos(half))
                kept = math.sqrt(max(2.0 * lifted / inertia, 0.0))
                swing = 2
        if abs(rate) > 0.01:
            rest = (k + 2) * model.opt.timestep
    return {"apex": apex, "first_return": returned, "kept": kept, "rest": rest}


def mujoco_entries():
    try:
        import mujoco
    except ImportError:
        print("mujoco: not installed (pip install mujoco)", file=sys.stderr)
        return []
    entries = []
    for name, (step, solref) in SETTINGS.items():
        model, data = mujoco_block(mujoco, step, solref)
        found = followed(mujoco, model, data)
        steps = round(DURATION / step)
        times = []
        for _ in range(PASSES):
            start(mujoco, model, data)
            begin = time.process_time()
            mujoco.mj_step(model, data, steps)
            times.append(time.process_time() - begin)
        entries.append({"name": f"motions/rocking_block_zeno/mujoco_{name}", "cpu_time": times, "time_unit": "s",
                        "threads": 1, "version": mujoco.__version__, **found})
    return entries


def carom_entry(command):
    words = [command, "motion", "rocking_block_zeno", "--duration", str(DURATION), "--threads", "1", "--json"]

    def run(samples, *more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run([*words, "--samples", str(samples), *more], capture_output=True, check=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime, json.loads(out.stdout)["problems"][0]

    call = min(run(1)[0] for _ in range(PASSES))
    times = [(run(MOTIONS + 1)[0] - call) / MOTIONS for _ in range(PASSES)]
    _, problem = run(1, "--events")
    impacts = [event for event in problem["sample"]["events"] if event["kind"] == "impact"]
    return {"name": "motions/rocking_block_zeno/carom", "cpu_time": times, "time_unit": "s", "threads": 1,
            "first_return": impacts[0]["time"],
            "kept": abs(impacts[0]["velocity"][2]), "rest": problem["zeno"]["first_time"]}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    apex, first_return = exact()
    known = {"apex": apex, "first_return": first_return, **EXACT}
    entries = [carom_entry(sys.argv[1]), *mujoco_entries()]
    for entry in entries:
        entry["errors"] = {name: entry[name] - value for name, value in known.items() if name in entry}
    print(json.dumps({"exact": known, "benchmarks": entries}, indent=1))


if __name__ == "__main__":
    main()
