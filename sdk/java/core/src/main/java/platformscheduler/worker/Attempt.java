package platformscheduler.worker;

/** Names one start of an execution. */
final class Attempt {
    final String execution;
    final long token;

    Attempt(String execution, long token) {
        this.execution = execution;
        this.token = token;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Attempt && ((Attempt) o).token == token && ((Attempt) o).execution.equals(execution);
    }

    @Override
    public int hashCode() {
        return execution.hashCode() * 31 + Long.hashCode(token);
    }

    @Override
    public String toString() {
        return execution + ":" + token;
    }
}
