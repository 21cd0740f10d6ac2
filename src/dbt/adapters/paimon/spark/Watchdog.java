package dbt.paimon;

import java.util.HashMap;
import java.util.Iterator;

/** Halts this JVM at the earliest deadline that is not extended or removed. Compiled at run time (watchdog.py). */
public final class Watchdog extends Thread {
  public static final int STATUS = 97;
  private final HashMap times = new HashMap();

  public Watchdog() {
    super("dbt-paimon-watchdog");
    setDaemon(true);
  }

  /** Sets the deadline called `name`, in milliseconds from now. */
  public synchronized void set(String name, long milliseconds) {
    this.times.put(name, Long.valueOf(now() + milliseconds));
    notifyAll();
  }

  /** Removes the deadline called `name`. */
  public synchronized void remove(String name) {
    this.times.remove(name);
    notifyAll();
  }

  public synchronized void run() {
    while (true) {
      long left = Long.MAX_VALUE;
      for (Iterator each = this.times.values().iterator(); each.hasNext(); ) {
        left = Math.min(left, ((Long) each.next()).longValue() - now());
      }
      // Neither exit() nor an exception, because a shutdown hook or a handler might go on writing.
      if (left <= 0L) {
        Runtime.getRuntime().halt(STATUS);
      }
      try {
        wait(Math.min(left, 1000L));
      } catch (InterruptedException ignored) {
        // No other code has a reference to this thread, so nothing interrupts it.
      }
    }
  }

  private static long now() {
    return System.nanoTime() / 1000000L;
  }
}
