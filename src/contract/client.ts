/** What plugins bring for `createAuthClient` of authkernel/client. Types only. */
import type { Context } from './context.ts'
import type { Awaitable, Session, PluginSessionFields } from './data.ts'
import type { Route } from './route.ts'

/** A schema of a library that implements Standard Schema 1: zod, valibot, arktype. */
export interface InputSchema<I> {
  readonly '~standard': {
    readonly validate: (
      value: unknown,
    ) => Awaitable<{ readonly value: I; readonly issues?: undefined } | { readonly issues: readonly object[] }>
  }
}
/** Makes the input of what a client sent, which is untrusted. A function throws for what it does not take. */
export type InputOf<I> = ((sent: unknown) => Awaitable<I>) | InputSchema<I>

/** One method, made by `clientMethod`. */
export interface ClientMethod<I, O> {
  /** Absent: the method takes nothing. */
  readonly input?: InputOf<I> | undefined
  handler(ctx: Context, input: I): Awaitable<O>
  /** Handles a form that is posted to the path of the method, such as that of a page without JavaScript. Absent: a form gets status 415. */
  readonly form?: ((ctx: Context) => Awaitable<Response>) | undefined
}

/** A method of any input and answer. */
export interface AnyClientMethod {
  readonly input?: InputOf<unknown> | undefined
  handler(ctx: Context, input: never): unknown
  readonly form?: ((ctx: Context) => Awaitable<Response>) | undefined
  /** As of a route. */
  readonly takes?: Route['takes']
}

/** What `setup` of a plugin returns for the client; there is nothing in it at run time. */
export interface ClientPart<T> {
  readonly '~client'?: T
}

/** The methods of one namespace as the client sees them. */
export type ClientMethods<M> = { readonly [K in keyof M]: M[K] extends ClientMethod<infer I, infer O> ? Call<I, Awaited<O>> : never }

/** The methods of all plugins of `typeof auth`, by namespace. */
export type ClientMethodsOf<A> = A extends { readonly '~client'?: infer T } ? (unknown extends T ? object : NonNullable<T>) : object

/** What `setup` of a plugin returns that adds fields to sessions: their names, declared in `PluginSessionFields`. There is nothing in it at run time. */
export interface SessionPart<F extends keyof PluginSessionFields> {
  readonly '~session'?: { readonly [K in F]: true }
}

/** The session of `typeof auth`: fields of plugins that it does not use are left out. Fields that hosts merge into `Session` are in it. */
export type SessionOf<A> = [MissingFields<A>] extends [never]
  ? Session
  : { [K in keyof Session as K extends MissingFields<A> ? never : K]: Session[K] }

type MissingFields<A> = unknown extends A ? never : Exclude<keyof PluginSessionFields, FieldsOfPlugins<A>>
type FieldsOfPlugins<A> = A extends { readonly '~session'?: infer T } ? keyof NonNullable<T> : never

type Call<I, O> = [I] extends [void] ? () => Promise<MethodResult<O>> : (input: I) => Promise<MethodResult<O>>
// A redirect comes as its address.
type MethodResult<O> = O extends Response ? { url: string } : Wire<O>

/** The type of a value after JSON: a `Date` becomes text. */
export type Wire<T> = T extends string | number | boolean | null
  ? T
  : T extends { toJSON(): infer J }
    ? J
    : T extends readonly (infer E)[]
      ? Wire<E>[]
      : T extends (...args: never[]) => unknown
        ? never
        : T extends object
          ? { [K in keyof T]: Wire<T[K]> }
          : T extends void
            ? null
            : T
