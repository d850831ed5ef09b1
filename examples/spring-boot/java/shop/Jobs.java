package shop;

import java.time.Duration;
import org.springframework.stereotype.Component;
import platformscheduler.spring.JobField;
import platformscheduler.spring.ScheduledJob;
import platformscheduler.worker.FatalJobException;
import platformscheduler.worker.JobRun;
import platformscheduler.worker.RetryAfterException;

/** The handlers. Their parameters are fields of the job's data; pauses are milliseconds. */
@Component
public class Jobs {
    /** Tells its progress. */
    @ScheduledJob("export-orders")
    public String exportOrders(JobRun run, @JobField("orders") int orders, @JobField("pause") long pause)
            throws InterruptedException {
        for (int order = 1; order <= orders; order++) {
            run.sleep(Duration.ofMillis(pause));
            run.log("order {} of {}", order, orders).progress(100 * order / orders);
        }
        return orders + " orders";
    }

    /**
     * Goes on behind the last checkpoint. It ends between two accounts when it is asked to: by a cancel, by a time-out,
     * or because the program stops and its grace is over. {@code sleep} throws JobStoppedException then.
     */
    @ScheduledJob("bill-accounts")
    public String billAccounts(JobRun run, @JobField("accounts") int accounts, @JobField("pause") long pause)
            throws InterruptedException {
        int done = run.lastCheckpoint().isEmpty() ? 0 : Integer.parseInt(run.lastCheckpoint());
        while (done < accounts) {
            run.sleep(Duration.ofMillis(pause));
            done++;
            run.log("account {} of {}", done, accounts).checkpoint(done);
        }
        return done + " accounts";
    }

    /** Finds the mail server busy at its first attempt. Its policy of retries allows the second one. */
    @ScheduledJob("send-mail")
    public String sendMail(JobRun run, @JobField("to") String to) {
        if (to.isEmpty()) {
            throw new FatalJobException("a mail without a receiver never works");
        }
        if (run.attempt() == 1) {
            throw new RetryAfterException(Duration.ofSeconds(1), "the mail server is busy");
        }
        run.log("mail to {}", to);
        return "sent to " + to;
    }
}
