/** One span around one piece of work. */
import type { Attributes, Context, Span, SpanKind } from '@opentelemetry/api'
import { AuthError } from 'authkernel/kernel'
import type { Telemetry } from './library.ts'

export interface SpanOptions {
  name: string
  kind: keyof typeof SpanKind
  attributes: Attributes
  /** Default: what is active. */
  parent?: Context
}

/** Runs work in a span, which is active meanwhile. Of an error it keeps the type alone: a message may name a user. */
export function inSpan<T>(
  { api, tracer }: Telemetry,
  { name, kind, attributes, parent = api.context.active() }: SpanOptions,
  work: (span: Span, within: Context) => T,
): T {
  const span = tracer.startSpan(name, { kind: api.SpanKind[kind], attributes }, parent)
  const fail = (error: unknown): never => {
    span.setAttribute('error.type', errorType(error))
    span.setStatus({ code: api.SpanStatusCode.ERROR })
    span.end()
    throw error
  }
  const within = api.trace.setSpan(parent, span)
  try {
    const answer = api.context.with(within, () => work(span, within))
    if (answer instanceof Promise) {
      return answer.then((value: unknown) => {
        span.end()
        return value
      }, fail) as T
    }
    span.end()
    return answer
  } catch (error) {
    return fail(error)
  }
}

/** A name from a short list: the type of an AuthError, else the class. */
export function errorType(error: unknown): string {
  if (error instanceof AuthError) return error.type
  return error instanceof Error ? error.name : '_OTHER'
}

/** Seconds since `performance.now()` was `started`. */
export function secondsSince(started: number): number {
  return (performance.now() - started) / 1000
}
