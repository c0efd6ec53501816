/** What is used of frameworks that are not installed here: the app brings them. Never part of a public type. */

declare module '@sveltejs/kit' {
  export function redirect(status: 302, location: string): never
  export function error(status: number, message: string): never
}

declare module '$app/paths' {
  export const base: string
}

// Without extension: these are the names that Next's bundler gives its own variants, for routes and for the proxy.
declare module 'next/headers' {
  export function headers(): Promise<Headers>
  export function cookies(): Promise<import('./_next.ts').CookieStore>
}
declare module 'next/navigation' {
  export function redirect(location: string): never
}
declare module 'next/server' {
  export const NextResponse: { next(): Response }
  /** Next 15 and later. */
  export const connection: (() => Promise<void>) | undefined
}

declare module '@builder.io/qwik' {
  export function inlinedQrl<T>(value: T, symbol: string): import('./_qwik/types.ts').Qrl<T>
  export function implicit$FirstArg<A, R>(fn: (qrl: A) => R): (first: A) => R
}
declare module '@builder.io/qwik-city' {
  import type { QwikAction, QwikEvent, QwikLoader, QwikValidator, Qrl } from './_qwik/types.ts'
  export function globalActionQrl<I, R, F>(
    action: Qrl<(input: I, event: QwikEvent) => Promise<R>>,
    options: { id: string; validation: QwikValidator[] },
  ): QwikAction<I, R | F>
  export function routeLoaderQrl<T>(loader: Qrl<(event: QwikEvent) => T>, options: { id: string }): QwikLoader<T>
}
