package example;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import platformscheduler.worker.FatalJobException;
import platformscheduler.worker.JobRun;
import platformscheduler.worker.RetryAfterException;
import platformscheduler.worker.Worker;

/** The example of docs/workers/java.md. */
public final class Settlement {
    private Settlement() {
    }

    public static void main(String[] args) throws Exception {
        worker("https://a:8080,https://b:8080", Paths.get("/run/ps-token")).run();
    }

    static Worker worker(String servers, Path tokenFile) throws Exception {
        return Worker.builder().servers(servers).tokenFile(tokenFile).group("shop").slots(8)
                .handler("settle", Settlement::settle)
                .build();
    }

    static Object settle(JobRun run) {
        if (run.text("account").isEmpty()) {
            throw new FatalJobException("an account without a name never works");
        }
        if (run.text("account").equals("busy")) {
            throw new RetryAfterException(Duration.ofMinutes(1), "the bank asks us to slow down");
        }
        int rows = (int) run.number("rows", 3);
        int row = run.lastCheckpoint().isEmpty() ? 0 : Integer.parseInt(run.lastCheckpoint());
        for (; row < rows; row++) {
            run.throwIfStopped();
            run.log("row {} of {}", row + 1, rows).checkpoint(row + 1).progress(100 * (row + 1) / rows);
        }
        return rows + " bookings for " + run.idempotencyKey();
    }
}
