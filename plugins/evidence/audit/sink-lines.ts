/** The log as JSON, one record a line: for files, and for programs that collect what a process prints. */
import { assertOptions, type Awaitable } from 'authkernel/kernel'
import type { AuditHead, AuditRecord } from './record.ts'
import type { AuditSink } from './sink.ts'

/** `path`: a file that is only ever added to. `write`: gets whole lines. */
export type JsonLinesOptions = { path: string } | { write(lines: string): Awaitable<unknown> }

/** What a line holds. */
export type AuditLine = AuditRecord | { head: AuditHead & { seal: string } }

/** Returns a sink that writes each record as one line of JSON, to a file or through your own `write`. */
export function jsonLines(options: JsonLinesOptions): AuditSink {
  assertOptions('jsonLines', options, { path: true, write: true })
  const put = 'write' in options ? options.write : (lines: string) => appendLines(options.path, lines)
  return {
    name: 'jsonLines',
    async write(records) {
      await put(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    },
    async head(head) {
      await put(`${JSON.stringify({ head })}\n`)
    },
  }
}

// Other users of the machine may not read it. Runtimes without files load this module, too.
async function appendLines(path: string, lines: string): Promise<void> {
  const { appendFile } = process.getBuiltinModule('node:fs/promises')
  await appendFile(path, lines, { mode: 0o600 })
}
