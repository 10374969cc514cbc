"""Tasks of an event loop, two with names, and a thread with one."""

import asyncio
import threading

from parallax_recorder import name_tasks, region


def spin():
    return sum(range(200_000))


async def worker():
    for _ in range(5):
        with region("kernel"):
            spin()
        await asyncio.sleep(0.001)


async def main():
    name_tasks()
    await asyncio.gather(*(asyncio.create_task(worker(), name=f"worker {n}") for n in (1, 2)), asyncio.create_task(worker()))


def load():
    with region("load", role="io"):
        spin()


thread = threading.Thread(target=load, name="loader")
thread.start()
thread.join()
asyncio.run(main())
