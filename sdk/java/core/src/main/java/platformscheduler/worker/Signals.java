package platformscheduler.worker;

import java.lang.reflect.Proxy;

/**
 * Handles SIGTERM and SIGINT. A shutdown hook cannot tell a second signal from the first one, and leaves no say in the
 * exit code. Every JVM from 8 on has sun.misc.Signal, but compilers for Java 8 do not see it.
 */
final class Signals {
    private Signals() {
    }

    /** Calls back for each signal; false where this JVM has no signals to give. */
    static boolean handle(Runnable signalled) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[] {handler},
                    (self, method, args) -> {
                        switch (method.getName()) {
                            case "handle":
                                signalled.run();
                                return null;
                            case "equals":
                                return self == args[0];
                            case "hashCode":
                                return System.identityHashCode(self);
                            default:
                                return "a handler of platform-scheduler";
                        }
                    });
            for (String name : new String[] {"TERM", "INT"}) {
                signal.getMethod("handle", signal, handler)
                        .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
            }
            return true;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return false; // the JVM runs with -Xrs, or without jdk.unsupported
        }
    }
}
