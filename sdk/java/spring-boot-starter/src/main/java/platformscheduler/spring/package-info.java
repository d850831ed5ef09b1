/** Makes methods of Spring beans handlers of jobs. {@code docs/workers/java.md} is the guide. */
package platformscheduler.spring;
