/** What is registered, by whom: for `authkernel doctor`, consoles and tests. Types only. */

/** Plain data. */
export interface Inspection {
  /** `layer`: `preset` for plugins of `createAuth`, `plugin` for those of `.use()`. */
  plugins: { name: string; layer: string }[]
  /** Routes of plugins, and those of the kernel with the plugin `kernel`. */
  routes: { method: string; path: string; plugin: string }[]
  /** Providers that users can sign in with. */
  providers: { id: string; name: string; type: string }[]
  /** Types that a provider may have. */
  providerTypes: string[]
  /** Name of the plugin by the name of the service; `host` for those of the kernel. */
  services: Record<string, string>
  /** In their order: the first is the innermost. */
  decorators: { name: string; plugin: string }[]
  /** Handlers of hooks, in the order of registration. */
  hooks: { name: string; plugin: string }[]
  /** Listeners, in the order of registration. */
  events: { name: string; plugin: string }[]
  /** Names of tables that plugins declared. */
  records: { name: string; plugin: string }[]
  /** Fields of records that are encrypted in the store. `unreadable`: what a value is that no secret decrypts. */
  sealed: { record: string; field: string; unreadable: 'null' | 'absent' }[]
  /** Functions that plugins put on `auth`, such as `sessions.list`. */
  apis: { name: string; plugin: string }[]
  /** Names of pages that plugins draw. */
  pages: { name: string; plugin: string }[]
  /** Texts that a plugin lacks in a language that others speak: English is shown. */
  gaps: { plugin: string; lang: string; keys: string[] }[]
  /** The first configuration mistake. */
  fault?: string
}
