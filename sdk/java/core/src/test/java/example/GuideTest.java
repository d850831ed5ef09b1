package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import platformscheduler.worker.FatalJobException;
import platformscheduler.worker.JobRun;
import platformscheduler.worker.RetryAfterException;

/** The example of docs/workers/java.md is this code, and does what the page says. */
class GuideTest {
    private static String read(String path) throws Exception {
        return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
    }

    @Test
    void thePageShowsThisCode() throws Exception {
        Matcher code = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(read("../../../docs/workers/java.md"));
        assertTrue(code.find());
        String shown = code.group(1).trim();
        String source = read("src/test/java/example/Settlement.java").replaceAll("(?m)^    ", "");
        assertTrue(source.contains(shown), "docs/workers/java.md and Settlement.java differ");
    }

    @Test
    void theExampleRuns(@TempDir Path folder) throws Exception {
        Files.write(folder.resolve("token"), "psw_x".getBytes());
        Settlement.worker("https://a:8080,https://b:8080", folder.resolve("token"));
        Map<String, Object> run = new HashMap<>();
        run.put("data", Collections.singletonMap("account", "a"));
        run.put("checkpoint", "1");
        run.put("idempotencyKey", "k");
        JobRun job = JobRun.of(run);
        assertEquals("3 bookings for k", Settlement.settle(job));
        assertEquals("3", job.lastCheckpoint());
        run.put("params", Collections.singletonMap("account", "busy"));
        assertThrows(RetryAfterException.class, () -> Settlement.settle(JobRun.of(run)));
        assertThrows(FatalJobException.class, () -> Settlement.settle(JobRun.of(Collections.emptyMap())));
    }
}
