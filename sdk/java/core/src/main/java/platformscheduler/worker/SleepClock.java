package platformscheduler.worker;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Finds out how long the machine slept. The monotonic clock may stand still then, and the lease does not. */
final class SleepClock {
    private static final Path UPTIME = Paths.get("/proc/uptime");

    private final boolean uptime = Files.isReadable(UPTIME);
    private long wall = wall();
    private long monotonic = System.nanoTime();

    /** For how many nanoseconds the machine slept since the last call. */
    long slept() {
        long nowWall = wall();
        long nowMonotonic = System.nanoTime();
        long gap = Life.asleep(nowWall - wall, nowMonotonic - monotonic);
        wall = nowWall;
        monotonic = nowMonotonic;
        return gap;
    }

    /** A clock that goes on while the machine sleeps: its uptime, or where there is none the time of day. */
    private long wall() {
        if (uptime) {
            try {
                String text = new String(Files.readAllBytes(UPTIME), StandardCharsets.US_ASCII);
                return (long) (Double.parseDouble(text.substring(0, text.indexOf(' '))) * 1e9);
            } catch (Exception e) {
                return wall + System.nanoTime() - monotonic; // as if it had not slept
            }
        }
        return System.currentTimeMillis() * 1_000_000;
    }
}
