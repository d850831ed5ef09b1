package platformscheduler.conformance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import platformscheduler.worker.FatalJobException;
import platformscheduler.worker.JobHandler;
import platformscheduler.worker.JobRun;
import platformscheduler.worker.RetryAfterException;
import platformscheduler.worker.Worker;
import platformscheduler.worker.WorkerBuilder;
import platformscheduler.worker.WorkerException;

/** The worker that the conformance suite drives. Its settings are variables PS_…, its handlers those of the suite. */
public final class Conformance {
    private static final long STEP_MS = 20;

    private Conformance() {
    }

    public static void main(String[] args) throws InterruptedException {
        System.setProperty("java.util.logging.SimpleFormatter.format", "%1$tT.%1$tL %4$s %5$s%6$s%n");
        try {
            worker().run();
        } catch (WorkerException | IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(1);
        }
    }

    private static Worker worker() throws IOException {
        WorkerBuilder b = Worker.builder().servers(env("PS_SERVERS", "")).tokenFile(Paths.get(env("PS_TOKEN_FILE", "")))
                .group(env("PS_GROUP", "")).instance(env("PS_INSTANCE", "")).slots(Integer.parseInt(env("PS_SLOTS", "8")))
                .grace(Duration.ofMillis(Long.parseLong(env("PS_GRACE_MS", "5000"))));
        if (!env("PS_CA_FILE", "").isEmpty()) {
            b.caFile(Paths.get(env("PS_CA_FILE", "")));
        }
        noted(b, "ok", run -> "ok");
        noted(b, "echo", run -> run.text("text"));
        noted(b, "fail", run -> {
            throw new Exception("it failed");
        });
        noted(b, "fatal", run -> {
            throw new FatalJobException("no use");
        });
        noted(b, "retryafter", run -> {
            throw new RetryAfterException(Duration.ofSeconds(60), "later");
        });
        noted(b, "panic", run -> {
            throw new IllegalStateException("broken");
        });
        noted(b, "sleep", Conformance::sleep);
        noted(b, "async", Conformance::sleep);
        noted(b, "deaf", Conformance::deaf);
        noted(b, "log", Conformance::write);
        noted(b, "big", run -> String.join("", Collections.nCopies((int) run.number("bytes", 0), "ä")));
        noted(b, "progress", run -> {
            for (int i = 1; i <= 100; i++) {
                run.progress(i);
            }
            return "done";
        });
        noted(b, "checkpoint", run -> {
            run.log("last {}", run.lastCheckpoint());
            for (long i = 1; i <= run.number("n", 0); i++) {
                run.checkpoint("c" + i);
            }
            return sleep(run);
        });
        noted(b, "busy", run -> {
            long until = until(run);
            while (System.nanoTime() - until < 0) {
                Thread.interrupted();
            }
            return "busy";
        });
        return b.build();
    }

    private static String env(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    /** Registers a handler that writes its begin and its end into the ledger. */
    private static void noted(WorkerBuilder b, String name, JobHandler handler) {
        Path ledger = Paths.get(env("PS_LEDGER", "ledger"));
        b.handler(name, run -> {
            String key = run.executionId() + ":" + run.fencingToken();
            note(ledger, "begin " + key);
            try {
                return handler.run(run);
            } finally {
                boolean interrupted = Thread.interrupted(); // an interrupted thread cannot write
                note(ledger, "end " + key + " " + (run.isStopped() ? run.stopReason().text() : "returned"));
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        });
    }

    private static synchronized void note(Path ledger, String line) throws IOException {
        Files.write(ledger, (line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static long until(JobRun run) {
        return System.nanoTime() + run.number("ms", 0) * 1_000_000;
    }

    private static Object sleep(JobRun run) throws InterruptedException {
        long until = until(run);
        while (System.nanoTime() - until < 0) {
            run.sleep(Duration.ofMillis(STEP_MS));
        }
        return "slept";
    }

    private static Object deaf(JobRun run) {
        long until = until(run);
        while (System.nanoTime() - until < 0) {
            try {
                Thread.sleep(STEP_MS);
            } catch (InterruptedException e) {
                // that is what deaf means
            }
        }
        return "slept";
    }

    private static Object write(JobRun run) {
        for (long i = 1; i <= run.number("lines", 1); i++) {
            String line = "line " + i;
            char[] fill = new char[(int) Math.max(run.number("size", 0) - line.length(), 0)];
            Arrays.fill(fill, 'x');
            run.log("{}", line + new String(fill));
        }
        return null;
    }
}
