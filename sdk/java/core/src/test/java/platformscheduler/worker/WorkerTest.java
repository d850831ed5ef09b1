package platformscheduler.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker against a small gateway. */
class WorkerTest {
    private static final Duration LONG = Duration.ofMillis(Gateway.LONG_MS);

    private Gateway gateway;
    private Worker worker;

    @BeforeEach
    void open() throws IOException {
        gateway = new Gateway();
    }

    @AfterEach
    void close() {
        if (worker != null) {
            worker.drain(Duration.ZERO);
            try {
                worker.join(LONG);
            } catch (WorkerException | InterruptedException e) {
                // the test has said how it ends
            }
        }
        gateway.close();
    }

    private WorkerBuilder builder() {
        return Worker.builder().servers(gateway.url()).token("psw_x").group("shop").instance("a");
    }

    private void start(WorkerBuilder b) throws IOException {
        worker = b.build();
        worker.start();
    }

    private void drained(Duration grace) throws Exception {
        worker.drain(grace);
        assertTrue(worker.join(LONG), "it drains");
        assertEquals(1, gateway.of("leave").size());
    }

    @Test
    void aRunSucceedsWithItsResult() throws Exception {
        start(builder().handler("greet", run -> run.text("name") + ", " + run.text("to")));
        gateway.run("e1", "greet", "data", Gateway.map("name", "a", "to", "b"), "params", Gateway.map("to", "ä"));
        Map<String, Object> end = gateway.ended("e1");
        assertEquals("SUCCESS", end.get("status"));
        assertEquals("a, ä", end.get("result"));
        drained(LONG);
        Map<String, Object> entry = gateway.of("register").get(0);
        assertEquals(Arrays.asList(1L, "shop", "a", 8L, Collections.singletonList("greet")), Arrays.asList(
                entry.get("protocol"), entry.get("group"), entry.get("instance"), entry.get("slots"),
                entry.get("handlers")));
        assertTrue(gateway.calls.stream().allMatch(c -> c.token.equals("Bearer psw_x")));
    }

    @Test
    void failuresSayWhatTheHandlerThrew() throws Exception {
        start(builder().handler("fail", run -> {
            throw new IOException("it failed");
        }).handler("fatal", run -> {
            throw new FatalJobException("no use");
        }).handler("later", run -> {
            throw new RetryAfterException(Duration.ofSeconds(60), "later");
        }).handler("error", run -> {
            throw new AssertionError("broken");
        }));
        for (String name : new String[] {"fail", "fatal", "later", "error"}) {
            gateway.run(name, name);
        }
        assertEquals("java.io.IOException: it failed", gateway.ended("fail").get("message"));
        assertEquals("ERROR", gateway.ended("fail").get("reason"));
        assertTrue(gateway.lines("fail").toString().contains("at platformscheduler.worker.WorkerTest"), "the stack");
        assertEquals(true, gateway.ended("fatal").get("noRetry"));
        assertEquals("no use", gateway.ended("fatal").get("message"));
        assertEquals(60_000L, gateway.ended("later").get("retryAfterMs"));
        assertEquals("PANIC", gateway.ended("error").get("reason"));
    }

    @Test
    void aHandlerThatIsNotThereGivesTheRunBack() throws Exception {
        start(builder().slots(1).handler("ok", run -> null));
        gateway.run("e1", "nobody");
        gateway.run("e2", "ok");
        assertEquals("RETURNED", gateway.ended("e1").get("status"));
        assertEquals("SUCCESS", gateway.ended("e2").get("status"), "its slot is free again");
    }

    @Test
    void linesProgressAndCheckpointArriveInOrder() throws Exception {
        start(builder().handler("work", run -> {
            String before = run.lastCheckpoint();
            for (int i = 0; i < 2000; i++) {
                run.log("line {}", i).progress(i / 20).checkpoint(i);
            }
            return before;
        }));
        gateway.run("e1", "work", "checkpoint", "c0");
        assertEquals("c0", gateway.ended("e1").get("result"));
        Map<String, Object> item = gateway.ends("e1").get(0);
        assertEquals("1999", item.get("checkpoint"));
        assertEquals(99L, item.get("progress"));
        List<Object> lines = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            lines.add("line " + i);
        }
        assertEquals(lines, gateway.lines("e1"));
    }

    @Test
    void timeOutAndCancelInterruptTheHandler() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(builder().handler("sleep", run -> {
            Thread.sleep(Gateway.LONG_MS);
            return null;
        }).handler("wait", run -> go.await(Gateway.LONG_MS, TimeUnit.MILLISECONDS)));
        gateway.run("e1", "sleep", "timeoutMs", 50L);
        gateway.run("e2", "sleep");
        gateway.run("e3", "wait");
        assertEquals("TIMEOUT", gateway.ended("e1").get("status"));
        gateway.until("a poll that names the others", () -> {
            List<Map<String, Object>> polls = gateway.of("poll");
            return polls.get(polls.size() - 1).get("running").toString().contains("e2:7, e3:7");
        });
        gateway.cancel("e2", "cancel");
        assertEquals("CANCELLED", gateway.ended("e2").get("status"));
        assertEquals(1, gateway.ends("e1").size());
        assertTrue(gateway.items("e3").isEmpty());
        go.countDown();
        assertEquals("SUCCESS", gateway.ended("e3").get("status"));
    }

    @Test
    void aDrainReleasesWhatDoesNotEndInItsGrace() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        start(builder().handler("work", run -> {
            run.checkpoint("row 7");
            entered.countDown();
            run.sleep(LONG);
            return null;
        }));
        gateway.run("e1", "work");
        assertTrue(entered.await(Gateway.LONG_MS, TimeUnit.MILLISECONDS));
        drained(Duration.ofMillis(50));
        assertEquals("RELEASED", gateway.ended("e1").get("status"));
        assertEquals("row 7", gateway.ends("e1").get(0).get("checkpoint"));
    }

    @Test
    void theEndOfTheLeaseTellsHandlersAndRegistersAnew() throws Exception {
        gateway.beatMs = 100;
        gateway.leaseMs = 400;
        List<StopReason> reason = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        start(builder().handler("work", run -> {
            try {
                run.sleep(LONG);
            } finally {
                reason.add(run.stopReason());
                done.countDown();
            }
            return null;
        }));
        gateway.run("e1", "work");
        gateway.until("a poll that names it",
                () -> gateway.of("poll").stream().anyMatch(p -> p.get("running").toString().contains("e1:7")));
        for (int i = 0; i < 1000; i++) {
            gateway.script("poll", body -> "cut");
        }
        assertTrue(done.await(Gateway.LONG_MS, TimeUnit.MILLISECONDS));
        assertEquals(Collections.singletonList(StopReason.LOST), reason);
        gateway.until("a second registration", () -> gateway.of("register").size() == 2);
        assertNotEquals(gateway.of("register").get(0).get("bootId"), gateway.of("register").get(1).get("bootId"));
        assertTrue(gateway.items("e1").isEmpty(), "the new life says nothing of the old one's");
    }

    @Test
    void anAnswerThatWasLostStartsItsRunOnce() throws Exception {
        List<String> begun = Collections.synchronizedList(new ArrayList<>());
        Map<String, Object> run = Gateway.map("executionId", "e1", "token", 7L, "attempt", 1L, "handler", "work");
        gateway.script("poll", body -> "cut");
        gateway.script("poll", body -> Gateway.map("seq", body.get("seq"), "runs", Arrays.asList(run, run)));
        gateway.script("poll", body -> Gateway.map("seq", body.get("seq"), "runs", Arrays.asList(run)));
        start(builder().handler("work", r -> begun.add(r.executionId())));
        gateway.ended("e1");
        gateway.run("e2", "work");
        gateway.ended("e2");
        assertEquals(Arrays.asList("e1", "e2"), begun);
    }

    @Test
    void anEndIsSentUntilItHasItsReceipt() throws Exception {
        gateway.script("report", body -> "cut");
        gateway.script("report", body -> "cut"); // the JVM repeats the first one by itself
        gateway.script("report", body -> new Gateway.Status(503, ""));
        gateway.script("report", body -> Gateway.map("items",
                Arrays.asList(Gateway.receipt(Json.objects(body, "items").get(0), "RETRY"))));
        start(builder().slots(1).handler("ok", run -> "r"));
        gateway.run("e1", "ok");
        gateway.run("e2", "ok");
        gateway.ended("e2");
        assertTrue(gateway.ends("e1").size() >= 4, "the second run began after the receipt of the first one");
    }

    @Test
    void oneItemThatIsRefusedHarmsNoOther() throws Exception {
        for (int i = 0; i < 50; i++) {
            gateway.script("report", body -> Json.objects(body, "items").stream()
                    .anyMatch(item -> "bad".equals(item.get("checkpoint"))) ? new Gateway.Status(422, "{}") : null);
        }
        start(builder().handler("bad", run -> {
            run.checkpoint("bad");
            return null;
        }).handler("ok", run -> "r"));
        gateway.run("e1", "bad");
        gateway.run("e2", "ok");
        gateway.until("the end alone",
                () -> gateway.ends("e1").stream().anyMatch(item -> !"bad".equals(item.get("checkpoint"))));
        gateway.ended("e2");
    }

    @Test
    void noRedirectIsFollowed() throws Exception {
        gateway.script("register", body -> new Gateway.Status(307, ""));
        start(builder().handler("ok", run -> null));
        WorkerException e = assertThrows(WorkerException.class, () -> worker.join(LONG));
        assertTrue(e.getMessage().contains("redirect"), e.getMessage());
        assertEquals(1, gateway.calls.size());
    }

    @Test
    void aTokenThatIsRefusedToTheEndEndsTheWorker() throws Exception {
        gateway.beatMs = 100;
        gateway.leaseMs = 300;
        for (int i = 0; i < 1000; i++) {
            gateway.script("poll", body -> new Gateway.Status(401, "{\"detail\":\"it was revoked\"}"));
        }
        start(builder().handler("ok", run -> null));
        WorkerException e = assertThrows(WorkerException.class, () -> worker.join(LONG));
        assertTrue(e.getMessage().contains("it was revoked"), e.getMessage());
    }

    @Test
    void aTokenFileIsReadAnew(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("token");
        Files.write(file, "psw_old\n".getBytes());
        worker = Worker.builder().servers(gateway.url()).tokenFile(file).group("shop").handler("ok", run -> null).build();
        gateway.script("poll", body -> new Gateway.Status(401, ""));
        Files.write(file, "psw_newer\n".getBytes());
        worker.start();
        gateway.until("the new token", () -> gateway.calls.stream().anyMatch(c -> c.token.equals("Bearer psw_newer")));
    }

    @Test
    void settingsThatCannotWorkAreRefused() throws Exception {
        for (String url : new String[] {"http://10.0.0.1:8080", "http://example.com", "ftp://a", "https://u:p@a",
            "https://a?x", "nonsense", ""}) {
            assertThrows(IllegalArgumentException.class,
                    () -> Worker.builder().servers(url).token("psw_x").group("shop").build(), url);
        }
        Worker.builder().servers("http://10.0.0.1:8080").token("psw_x").group("shop").allowPlain().build();
        Worker.builder().servers("http://[::1]:8080, https://a:1/base").token("psw_x").group("shop").build();
        assertThrows(IllegalArgumentException.class, () -> builder().slots(0).build());
        assertThrows(IllegalArgumentException.class, () -> builder().slots(1001).build());
        assertThrows(IllegalArgumentException.class, () -> builder().group("").build());
        assertThrows(IllegalArgumentException.class, () -> builder().token("a b").build());
        assertThrows(IllegalArgumentException.class, () -> builder().grace(Duration.ofSeconds(-1)).build());
        assertThrows(IllegalArgumentException.class, () -> builder().handler("a", r -> 1).handler("a", r -> 2));
    }

    @Test
    void aRunForTests() throws Exception {
        JobRun run = JobRun.of(Gateway.map("data", Gateway.map("a", 1L, "b", "2"), "params", Gateway.map("a", 3L),
                "shardIndex", 1, "shardTotal", 3, "scheduledTime", "2026-11-28T10:00:00+08:00"));
        assertEquals(3, run.number("a", 0));
        assertEquals(2, run.number("b", 0));
        assertEquals("2026-11-28T02:00:00Z", run.scheduledTime().toString());
        assertEquals(4, run.shareFrom(10)); // 10 over 3: 4, 3, 3
        assertEquals(7, run.shareTo(10));
        assertTrue(run.stop(StopReason.CANCEL));
        assertFalse(run.stop(StopReason.TIMEOUT));
        assertThrows(JobStoppedException.class, run::throwIfStopped);
        assertEquals("a 1 b {}", JobRun.format("a {} b {}", 1));
    }
}
