/** The log as log records of OpenTelemetry. */
import { assertOptions, AuthError } from 'authkernel/kernel'
import type { AuditRecord } from './record.ts'
import type { AuditSink } from './sink.ts'

type Library = Pick<typeof import('@opentelemetry/api-logs'), 'logs'>

// Severities of the log data model of OpenTelemetry.
const severities = { success: [9, 'INFO'], failure: [13, 'WARN'], denied: [13, 'WARN'] } as const

/** Emits through `@opentelemetry/api-logs`, an optional peer, and the logger provider that the host has registered. */
export function openTelemetryLogs(options: { lib?: () => Promise<unknown> } = {}): AuditSink {
  assertOptions('openTelemetryLogs', options, { lib: true })
  const { lib = importApi } = options
  return {
    name: 'openTelemetry',
    async write(records) {
      const { logs } = (await lib()) as Library
      const logger = logs.getLogger('authkernel.audit')
      for (const record of records) {
        const [severityNumber, severityText] = severities[record.outcome]
        logger.emit({
          timestamp: record.time,
          severityNumber: severityNumber as number,
          severityText,
          eventName: `authkernel.${record.name}`,
          body: record.name,
          attributes: spanAttributes(record),
        })
      }
    },
  }
}

// Names of the semantic conventions where they have one.
const names: Readonly<Record<string, string>> = {
  address: 'client.address',
  userAgent: 'user_agent.original',
  sessionId: 'session.id',
  reason: 'error.type',
  'actor.id': 'authkernel.actor.id',
}

function spanAttributes({ time: _time, name: _name, ...record }: AuditRecord): Record<string, string | number | boolean | string[]> {
  const attributes: Record<string, string | number | boolean | string[]> = {}
  const add = (path: string, value: unknown): void => {
    if (value === undefined) return
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) add(`${path}.${key}`, inner)
    } else attributes[names[path] ?? `authkernel.${path}`] = value as string
  }
  for (const [key, value] of Object.entries(record)) add(key, value)
  if (record.subject?.type === 'user' && record.subject.id !== undefined) attributes['user.id'] = record.subject.id
  return attributes
}

async function importApi(): Promise<Library> {
  try {
    return await import('@opentelemetry/api-logs')
  } catch (error) {
    const err = error instanceof Error ? error : new Error(String(error))
    throw new AuthError('openTelemetryLogs() needs the package @opentelemetry/api-logs: npm install @opentelemetry/api-logs', {
      cause: { err },
    })
  }
}
