/** Waits for what a request left to do in the background, such as a mail. */

/** Ends after several timers in a row were on time: a loaded machine gets more time than an idle one. At most about two seconds. */
export async function settle(): Promise<void> {
  const tick = 5
  for (let rounds = 0, calm = 0; calm < 4 && rounds < 100; rounds++) {
    const began = performance.now()
    await new Promise((resolve) => setTimeout(resolve, tick))
    calm = performance.now() - began < 2 * tick ? calm + 1 : 0
  }
}
