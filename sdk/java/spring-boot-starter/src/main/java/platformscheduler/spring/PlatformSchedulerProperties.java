package platformscheduler.spring;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** The settings {@code platform-scheduler.*}. */
@ConfigurationProperties("platform-scheduler")
public class PlatformSchedulerProperties {
    /** Whether this program is a worker. */
    private boolean enabled = true;
    /** The addresses of nodes. */
    private List<String> servers = new ArrayList<>();
    /** The worker group. */
    private String group = "";
    /** The file with the token of the worker group; it is read anew when it changes. */
    private String tokenFile = "";
    /** The token of the worker group, where there is no file of it. */
    private String token = "";
    /** The name of this process, the same over its restarts; the host name by default. */
    private String instance = "";
    /** Runs at once. */
    private int slots = 8;
    /** Labels, which jobs may ask for. */
    private Map<String, String> labels = new LinkedHashMap<>();
    /** The share of runs under the strategy WEIGHTED. */
    private int weight = 1;
    /** The version of your program, for people. */
    private String version = "";
    /** How long a stop leaves to runs. It must be shorter than spring.lifecycle.timeout-per-shutdown-phase. */
    private Duration grace = Duration.ofSeconds(20);
    /** Trusts the authorities of this PEM file alone. */
    private String caFile = "";
    /** Allows plain http also to other machines: the token is then readable on the way. */
    private boolean allowPlain;

    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    public List<String> getServers() {
        return servers;
    }

    public void setServers(List<String> servers) {
        this.servers = servers;
    }

    public String getGroup() {
        return group;
    }

    public void setGroup(String group) {
        this.group = group;
    }

    public String getTokenFile() {
        return tokenFile;
    }

    public void setTokenFile(String tokenFile) {
        this.tokenFile = tokenFile;
    }

    public String getToken() {
        return token;
    }

    public void setToken(String token) {
        this.token = token;
    }

    public String getInstance() {
        return instance;
    }

    public void setInstance(String instance) {
        this.instance = instance;
    }

    public int getSlots() {
        return slots;
    }

    public void setSlots(int slots) {
        this.slots = slots;
    }

    public Map<String, String> getLabels() {
        return labels;
    }

    public void setLabels(Map<String, String> labels) {
        this.labels = labels;
    }

    public int getWeight() {
        return weight;
    }

    public void setWeight(int weight) {
        this.weight = weight;
    }

    public String getVersion() {
        return version;
    }

    public void setVersion(String version) {
        this.version = version;
    }

    public Duration getGrace() {
        return grace;
    }

    public void setGrace(Duration grace) {
        this.grace = grace;
    }

    public String getCaFile() {
        return caFile;
    }

    public void setCaFile(String caFile) {
        this.caFile = caFile;
    }

    public boolean isAllowPlain() {
        return allowPlain;
    }

    public void setAllowPlain(boolean allowPlain) {
        this.allowPlain = allowPlain;
    }
}
