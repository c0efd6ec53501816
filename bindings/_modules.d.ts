/** What is used of frameworks that are not installed here: the app brings them. Never part of a public type. */

declare module '@sveltejs/kit' {
  export function redirect(status: 302, location: string): never
  export function error(status: number, message: string): never
}
