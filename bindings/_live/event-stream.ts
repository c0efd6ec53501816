/** Server-Sent Events that end with the session. */
import type { Live } from './watch.ts'

/** The response: what the source gives, whole events, and `session-end` at the end of the session. */
export function toEventStream(live: Live, source: ReadableStream<Uint8Array | string>): Response {
  const encoder = new TextEncoder()
  const reader = source.getReader()
  let over = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (): void => {
        if (over) return
        over = true
        controller.enqueue(encoder.encode(`event: session-end\ndata: ${String(live.ended.reason)}\n\n`))
        controller.close()
        void reader.cancel(live.ended.reason).catch(() => undefined)
      }
      if (live.ended.aborted) end()
      else live.ended.addEventListener('abort', end, { once: true })
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (over) return
        if (!done) return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
        over = true
        live.stop()
        controller.close()
      } catch (error) {
        over = true
        live.stop()
        throw error
      }
    },
    async cancel(reason) {
      over = true
      live.stop()
      await reader.cancel(reason)
    },
  })
  const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'private, no-store', 'X-Accel-Buffering': 'no' }
  return new Response(body, { headers })
}
