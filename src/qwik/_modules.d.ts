/** What is used of Qwik's hooks: Qwik is not installed here, because it wants another Vite. Never part of a public type. */

declare module '@builder.io/qwik' {
  interface Signal<T> {
    value: T
  }
  interface TaskContext {
    track<T>(read: () => T): T
    cleanup(end: () => void): void
  }
  export function createContextId<T>(name: string): { readonly id: string; readonly type?: T }
  export function inlinedQrl<T>(value: T, symbol: string, scope: readonly unknown[]): T
  export function useContext<T>(context: { readonly id: string }, otherwise: T): T
  export function useContextProvider<T>(context: { readonly type?: T }, value: T): void
  export function useLexicalScope<T extends readonly unknown[]>(): T
  export function useSignal<T>(first: T): Signal<T>
  export function useVisibleTaskQrl(task: (context: TaskContext) => void, options: { strategy: 'document-ready' }): void
}
