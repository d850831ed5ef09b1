package example;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.stereotype.Component;
import platformscheduler.spring.JobField;
import platformscheduler.spring.ScheduledJob;
import platformscheduler.worker.JobRun;

// The test starts this class, so it also stands for the program.
@EnableAutoConfiguration
@Component
public class Settlement {
    @ScheduledJob(value = "settle", cron = "0 0 2 * * ?")
    public String settle(JobRun run, @JobField("rows") int rows) {
        int row = run.lastCheckpoint().isEmpty() ? 0 : Integer.parseInt(run.lastCheckpoint());
        for (; row < rows; row++) {
            run.throwIfStopped();
            run.log("row {}", row + 1).checkpoint(row + 1);
        }
        return rows + " bookings for " + run.idempotencyKey();
    }
}
