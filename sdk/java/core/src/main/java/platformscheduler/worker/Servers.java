package platformscheduler.worker;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The nodes that may be called, and the one that is called now. */
final class Servers {
    /** After so long another server is chosen, so that the load evens out. */
    private static final long CHOOSE = 600_000_000_000L;

    private final List<String> servers = new ArrayList<>();
    private int at;
    private long chosen = System.nanoTime();

    Servers(List<String> urls, boolean allowPlain) {
        for (String url : urls) {
            for (String one : url.split(",")) {
                if (!one.trim().isEmpty()) {
                    servers.add(checked(one.trim(), allowPlain));
                }
            }
        }
        if (servers.isEmpty()) {
            throw new IllegalArgumentException("name at least one server: https://host:port");
        }
        Collections.shuffle(servers);
    }

    /** The address without a slash at its end. Plain http to other machines is refused. */
    private static String checked(String url, boolean allowPlain) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("no address of a server: write https://host:port", e);
        }
        boolean plain = "http".equalsIgnoreCase(uri.getScheme());
        if (!plain && !"https".equalsIgnoreCase(uri.getScheme()) || uri.getHost() == null) {
            throw new IllegalArgumentException(url + " is no address of a server: write https://host:port");
        }
        if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new IllegalArgumentException("an address of a server has no user, query or fragment");
        }
        if (plain && !allowPlain && !loopback(uri.getHost())) {
            throw new IllegalArgumentException(url + " would send the token in plain text: use https, or allowPlain() "
                    + "inside a safe network");
        }
        return url.replaceAll("/+$", "");
    }

    private static boolean loopback(String host) {
        return host.equalsIgnoreCase("localhost") || host.equals("[::1]") || host.matches("127(\\.\\d{1,3}){3}");
    }

    int size() {
        return servers.size();
    }

    synchronized String now() {
        if (System.nanoTime() - chosen > CHOOSE) {
            at = ThreadLocalRandom.current().nextInt(servers.size());
            chosen = System.nanoTime();
        }
        return servers.get(at);
    }

    /** Goes to the next server, unless another call has done so since. */
    synchronized void next(String failed) {
        if (servers.get(at).equals(failed)) {
            at = (at + 1) % servers.size();
            chosen = System.nanoTime();
        }
    }
}
