"""A program whose jobs run inside it."""

import asyncio
import logging
import os

from platform_scheduler import Fatal, RetryAfter, Run, Worker

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")

w = Worker(
    os.environ.get("SERVER", "http://127.0.0.1:8080"),
    token_file=os.environ.get("TOKEN_FILE", "worker-token"),
    group="examples",
    instance="python",
    slots=4,
    grace=float(os.environ.get("GRACE_SECONDS", "20")),
)


@w.job("export-orders")
async def export_orders(run: Run, orders: int, pause: int):
    """Tells its progress. Its parameters are fields of the job's data; the pause is in milliseconds."""
    for order in range(orders):
        await asyncio.sleep(pause / 1000)
        run.log("order %d of %d", order + 1, orders).progress(100 * (order + 1) / orders)
    return f"{orders} orders"


@w.job("bill-accounts")
def bill_accounts(run: Run, accounts: int, pause: int):
    """Goes on behind the last checkpoint.

    It ends between two accounts when it is asked to: by a cancel, by a time-out, or because the program stops and its
    grace is over. `sleep` raises Stopped then.
    """
    done = int(run.last_checkpoint or 0)
    while done < accounts:
        run.sleep(pause / 1000)
        done += 1
        run.log("account %d of %d", done, accounts).checkpoint(done)
    return f"{done} accounts"


@w.job("send-mail")
def send_mail(run: Run, to: str):
    """Finds the mail server busy at its first attempt. Its policy of retries allows the second one."""
    if not to:
        raise Fatal("a mail without a receiver never works")
    if run.attempt == 1:
        raise RetryAfter(1, "the mail server is busy")
    run.log("mail to %s", to)
    return f"sent to {to}"


if __name__ == "__main__":
    w.run()
