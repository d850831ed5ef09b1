package platformscheduler.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs that a worker declares, against a small gateway. */
class DeclarationTest {
    private static final Duration LONG = Duration.ofMillis(Gateway.LONG_MS);

    private final List<String> said = new CopyOnWriteArrayList<>();
    private final Handler log = new Handler() {
        @Override
        public void publish(LogRecord r) {
            said.add(new SimpleFormatter().formatMessage(r));
            synchronized (gateway) {
                gateway.notifyAll();
            }
        }

        @Override
        public void flush() {
        }

        @Override
        public void close() {
        }
    };
    private Gateway gateway;

    @BeforeEach
    void open() throws Exception {
        gateway = new Gateway();
        Session.LOG.addHandler(log);
    }

    @AfterEach
    void close() {
        Session.LOG.removeHandler(log);
        gateway.close();
    }

    private WorkerBuilder builder() {
        return Worker.builder().servers(gateway.url()).token("psw_x").group("shop").instance("a")
                .handler("settle", run -> "done");
    }

    /** Starts a worker, waits until it has said something, and ends it when it has run a job. */
    private void says(WorkerBuilder b, String... texts) throws Exception {
        Worker worker = b.build();
        worker.start();
        gateway.until(Arrays.toString(texts), () -> Arrays.stream(texts)
                .allMatch(text -> said.stream().anyMatch(line -> line.contains(text))));
        gateway.run("e1", "settle");
        assertEquals("SUCCESS", gateway.ended("e1").get("status"), "the worker works, whatever came of it");
        worker.drain(LONG);
        assertTrue(worker.join(LONG), "it drains");
    }

    @Test
    void jobsAreDeclaredAfterTheRegistration() throws Exception {
        gateway.script("jobs", body -> Gateway.map("jobs", Arrays.asList(
                Gateway.map("group", "o", "name", "settle", "outcome", "CREATED"),
                Gateway.map("group", "o", "name", "a", "outcome", "EXISTS"),
                Gateway.map("group", "o", "name", "b", "outcome", "DIFFERS", "differs", Arrays.asList("timeoutSec")),
                Gateway.map("group", "o", "name", "c", "outcome", "REFUSED", "errors",
                        Arrays.asList(Gateway.map("field", "group", "message", "must be orders"))))));
        says(builder().declare("settle", "0 0 2 * * ?").declare("settle", Gateway.map("name", "again", "timeoutSec", 60)),
                "o/settle was created", "o/a exists", "o/b differs in [timeoutSec]",
                "o/c was refused: [group: must be orders]");
        List<Map<String, Object>> calls = gateway.of("jobs");
        assertEquals(1, calls.size());
        assertEquals("{\"epoch\":1,\"jobs\":[{\"name\":\"settle\",\"jobClass\":\"settle\",\"schedule\":"
                + "{\"cronExpression\":\"0 0 2 * * ?\"}},{\"name\":\"again\",\"jobClass\":\"settle\","
                + "\"timeoutSec\":60}]}", Json.write(calls.get(0)));
    }

    @Test
    void aRefusalDoesNotStopTheWorker() throws Exception {
        gateway.script("jobs", body -> new Gateway.Status(403,
                "{\"code\":\"declare_not_allowed\",\"detail\":\"may not\"}"));
        says(builder().declare("settle", "0 0 2 * * ?"), "jobs were not declared: may not");
    }

    @Test
    void aLostAnswerIsAskedForAgain() throws Exception {
        gateway.script("jobs", body -> "cut");
        gateway.script("jobs", body -> new Gateway.Status(503, "{}"));
        gateway.script("jobs", body -> Gateway.map("jobs", Arrays.asList(
                Gateway.map("group", "o", "name", "settle", "outcome", "EXISTS"))));
        says(builder().declare("settle", "0 0 2 * * ?"), "o/settle exists");
        assertEquals(1, gateway.of("jobs").stream().distinct().count());
    }

    @Test
    void aJobNeedsItsHandler() {
        assertThrows(IllegalArgumentException.class, () -> builder().declare("other", "0 0 2 * * ?").build());
    }
}
