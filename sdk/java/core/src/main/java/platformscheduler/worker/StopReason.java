package platformscheduler.worker;

import java.util.Locale;

/** Why a run is to stop. */
public enum StopReason {
    /** The time limit of its job is over. */
    TIMEOUT("TIMEOUT"),
    /** A person asked for it. */
    CANCEL("CANCELLED"),
    /** A newer fire takes its place. */
    REPLACED("CANCELLED"),
    /** The worker is stopping. The run goes back with its checkpoint. */
    SHUTDOWN("RELEASED"),
    /** The worker has lost the run, which may already run elsewhere. Its end counts nowhere. */
    LOST("CANCELLED");

    final String status;

    StopReason(String status) {
        this.status = status;
    }

    /** The reason in small letters, as the protocol writes it. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    static StopReason of(String text) {
        for (StopReason r : values()) {
            if (r.text().equals(text)) {
                return r;
            }
        }
        return CANCEL;
    }
}
