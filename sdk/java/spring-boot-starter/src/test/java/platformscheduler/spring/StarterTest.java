package platformscheduler.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import platformscheduler.worker.Gateway;
import platformscheduler.worker.JobRun;

/** A Spring Boot program that is a worker. */
class StarterTest {
    /** The bean of the guide. */
    static class Settlement {
        final CountDownLatch entered = new CountDownLatch(1);

        @ScheduledJob("${settle.name:settle}")
        public String settle(JobRun run, @JobField("rows") int rows, @JobField(value = "note", required = false) String n) {
            run.log("row {}", rows);
            return rows + " bookings" + (n == null ? "" : n);
        }

        @ScheduledJob(value = "sleep", cron = "${sleep.cron:0 0 3 * * ?}", zone = "Europe/Berlin", name = "sleep well",
                group = "orders")
        void sleep(JobRun run) throws InterruptedException {
            run.checkpoint("row 7");
            entered.countDown();
            Thread.sleep(60_000);
        }

        @ScheduledJob("fail")
        public void fail() throws IOException {
            throw new IOException("it failed");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Settlement settlement() {
            return new Settlement();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Empty {
    }

    @Configuration(proxyBeanMethods = false)
    static class Wrong extends App {
        @Bean
        Object other() {
            return new Object() {
                @ScheduledJob("other")
                public void other(String text) {
                }
            };
        }
    }

    private Gateway gateway;

    @BeforeEach
    void open() throws IOException {
        gateway = new Gateway();
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    private ConfigurableApplicationContext boot(Class<?> app, String... settings) {
        return new SpringApplicationBuilder(app).web(WebApplicationType.NONE).properties(settings).run();
    }

    private ConfigurableApplicationContext start() {
        return start(App.class);
    }

    private ConfigurableApplicationContext start(Class<?> app) {
        return boot(app, "platform-scheduler.servers=" + gateway.url(), "platform-scheduler.token=psw_x",
                "platform-scheduler.group=shop", "platform-scheduler.slots=3", "platform-scheduler.labels.zone=a",
                "platform-scheduler.grace=50ms");
    }

    @Test
    void methodsOfBeansAreHandlers() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            gateway.run("e1", "settle", "data", Gateway.map("rows", "12"));
            gateway.run("e2", "settle", "data", Gateway.map());
            gateway.run("e3", "settle", "data", Gateway.map("rows", "many"));
            gateway.run("e4", "fail");
            assertEquals("12 bookings", gateway.ended("e1").get("result"));
            assertEquals(true, gateway.ended("e2").get("noRetry"));
            assertEquals(true, gateway.ended("e3").get("noRetry"));
            assertEquals("java.io.IOException: it failed", gateway.ended("e4").get("message"));
            assertTrue(context.getBean(WorkerLifecycle.class).isRunning());
        }
        Map<String, Object> entry = gateway.of("register").get(0);
        assertEquals("[fail, settle, sleep]", entry.get("handlers").toString());
        assertEquals(3L, entry.get("slots"));
        assertEquals("{zone=a}", entry.get("labels").toString());
    }

    @Test
    void methodsWithACronAreDeclared() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            assertTrue(context.isRunning());
            gateway.until("the declaration", () -> !gateway.of("jobs").isEmpty());
        }
        assertEquals(Collections.singletonList(Gateway.map("name", "sleep well", "jobClass", "sleep", "schedule",
                Gateway.map("cronExpression", "0 0 3 * * ?", "timeZone", "Europe/Berlin"), "group", "orders")),
                gateway.of("jobs").get(0).get("jobs"));
    }

    @Test
    void theEndOfTheProgramDrains() throws Exception {
        ConfigurableApplicationContext context = start();
        gateway.run("e1", "sleep");
        context.getBean(Settlement.class).entered.await();
        context.close();
        assertEquals("RELEASED", gateway.ended("e1").get("status"));
        assertEquals("row 7", gateway.ends("e1").get(0).get("checkpoint"));
        assertEquals(1, gateway.of("leave").size());
        assertFalse(context.getBeanFactory().containsSingleton("platformSchedulerWorker"));
    }

    @Test
    void theBeanOfTheGuideRuns() throws Exception {
        Matcher code = Pattern.compile("```java\n(@Component.*?)```", Pattern.DOTALL)
                .matcher(read("../../../docs/workers/java.md"));
        assertTrue(code.find());
        assertTrue(read("src/test/java/example/Settlement.java").contains(code.group(1).trim()),
                "docs/workers/java.md and Settlement.java differ");
        try (ConfigurableApplicationContext context = start(example.Settlement.class)) {
            assertTrue(context.isRunning());
            gateway.run("e1", "settle", "checkpoint", "1", "idempotencyKey", "k", "data", Gateway.map("rows", 3L));
            assertEquals("3 bookings for k", gateway.ended("e1").get("result"));
            assertEquals("[row 2, row 3]", gateway.lines("e1").toString());
            assertEquals("3", gateway.ends("e1").get(0).get("checkpoint"));
            gateway.until("the declaration", () -> !gateway.of("jobs").isEmpty());
        }
    }

    private static String read(String path) throws IOException {
        return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
    }

    @Test
    void aProgramWithoutHandlersIsNoWorker() {
        try (ConfigurableApplicationContext context = boot(Empty.class)) {
            assertFalse(context.getBean(WorkerLifecycle.class).isRunning());
        }
        try (ConfigurableApplicationContext context = boot(App.class, "platform-scheduler.enabled=false")) {
            assertTrue(context.getBeansOfType(WorkerLifecycle.class).isEmpty());
        }
    }

    @Test
    void settingsThatCannotWorkEndTheStart() {
        Throwable e = assertThrows(RuntimeException.class, () -> boot(App.class));
        while (e.getCause() != null) {
            e = e.getCause();
        }
        assertTrue(e.getMessage().contains("group"), e.getMessage());
        assertThrows(RuntimeException.class, () -> start(Wrong.class));
    }
}
