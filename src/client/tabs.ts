/** Word of changes between the tabs of a browser: by a channel, and by the storage where there is none or it does not arrive. */

/** The other tabs with the same base path. */
export interface Tabs {
  /** Tells them that the session may have changed. Settles when the word is out, so that the page may go away; at the latest after a moment. */
  tell(): Promise<void>
  /** Calls `changed` for every change that another tab told; returns how to stop. */
  listen(changed: () => void): () => void
}

// Milliseconds that a page waits for the browser to pass the word on.
const patience = 300

export function createTabs(name: string): Tabs {
  const open = (): BroadcastChannel | undefined => (typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : undefined)
  let newest: unknown

  return {
    async tell() {
      // Outside of a page there is no other tab, and a server has channels of the same kind between its threads.
      if (!globalThis.location) return
      newest = `${Date.now()} ${Math.random()}`
      try {
        localStorage.setItem(name, newest as string)
      } catch {
        // There is none, or the browser forbids it.
      }
      // A message that came back to this tab has left it: a page that goes away earlier may take it along.
      const [sender, echo] = [open(), open()]
      await new Promise((resolve) => {
        if (!sender) return resolve(0)
        setTimeout(resolve, patience)
        echo?.addEventListener('message', resolve)
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a channel stays within its origin
        sender.postMessage(newest)
      })
      sender?.close()
      echo?.close()
    },
    listen(changed) {
      const controller = new AbortController()
      // Each change once, however many ways it comes.
      const hear = (word: unknown): void => {
        if (word === newest) return
        newest = word
        changed()
      }
      const channel = open()
      channel?.addEventListener('message', ({ data }) => hear(data))
      addEventListener('storage', ({ key, newValue }) => key === name && hear(newValue), controller)
      return () => {
        channel?.close()
        controller.abort()
      }
    },
  }
}
