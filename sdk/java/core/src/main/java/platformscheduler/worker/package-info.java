/** Jobs of platform-scheduler inside your own program. {@code docs/workers/java.md} is the guide. */
package platformscheduler.worker;
