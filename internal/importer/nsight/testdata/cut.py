# Cuts small samples out of real exports: python3 cut.py DIRECTORY-OF-THE-ORIGINALS
import sqlite3, sys, os
here = os.path.dirname(os.path.abspath(__file__))

def cut(source, target, begin, end, least=0, drop=()):
    out = os.path.join(here, target)
    if os.path.exists(out): os.remove(out)
    c = sqlite3.connect(out)
    c.execute("pragma page_size=1024")
    c.execute("attach ? as old", (source,))
    for name, sql in c.execute("select name, sql from old.sqlite_master where type='table'").fetchall():
        if name in drop or name.startswith("sqlite_") or name.startswith("NVTX_PAYLOAD") or (name.startswith("ENUM_") and name != "ENUM_NSYS_EVENT_TYPE"): continue
        c.execute(" ".join(line.split("--")[0] for line in sql.splitlines()))
        columns = [r[1] for r in c.execute("pragma old.table_info(%s)" % name)]
        where = ""
        if "start" in columns: where = " where start >= %d and start < %d" % (begin, end)
        if name in ("SCHED_EVENTS", "COMPOSITE_EVENTS"): where += " and rowid <= 40"
        if name == "ENUM_NSYS_EVENT_TYPE": where = " where name like 'Nvtx%'"
        if name in ("TARGET_INFO_SYSTEM_ENV",): where = " where name in ('CpuCores', 'Hostname', 'NvDriverVersion')"
        if name.startswith("META_DATA") or name == "EXPORT_META_DATA": where = " where name like 'EXPORT_PRODUCT%' or name like 'EXPORT_SCHEMA%'"
        if name in ("ANALYSIS_FILE", "ProcessStreams"): where = " where 0"
        c.execute("insert into main.%s select * from old.%s%s" % (name, name, where))
    used = set()
    for name, in c.execute("select name from main.sqlite_master where type='table'").fetchall():
        for col in [r[1] for r in c.execute("pragma main.table_info(%s)" % name)]:
            if col in ("nameId", "textId", "demangledName", "shortName", "mangledName"):
                used |= {r[0] for r in c.execute("select distinct %s from main.%s" % (col, name)) if r[0] is not None}
    tids = {r[0] for r in c.execute("select distinct globalTid from main.NVTX_EVENTS union select distinct globalTid from main.CUPTI_ACTIVITY_KIND_RUNTIME")}
    c.execute("delete from ThreadNames where globalTid not in (%s)" % ",".join(map(str, tids)))
    c.execute("delete from PROCESSES where globalPid not in (%s)" % ",".join(str(t & ~0xffffff) for t in tids))
    used |= {r[0] for r in c.execute("select nameId from ThreadNames")}
    c.execute("delete from StringIds where id not in (%s)" % ",".join(map(str, used)))
    c.execute("delete from TARGET_INFO_CUDA_STREAM")
    c.commit()
    c.execute("detach old")
    c.execute("vacuum")
    c.close()

src = sys.argv[1]
cut(src + "/readers/nsight/mfu-2gpu-before.sqlite", "two-gpus.sqlite", 60120000000, 60124000000)
cut(src + "/public/nsight-sqlite/saxpy-mpi-cuda-rank0/saxpy-mpi-cuda_nsys_perlmutter0.sqlite", "saxpy-rank0.sqlite", 0, 1 << 60, drop=("SAMPLING_CALLCHAINS", "CUDA_CALLCHAINS", "UnwindMethodType"))
