/** For the command line, which loads the auth module of a host and asks for the instance behind what it exports. */

/** Remembers how the instance of a factory is made, while the command line loads the module. */
export function announceInstance(make: (event: unknown) => Promise<unknown>): void {
  const tell: unknown = Reflect.get(globalThis, Symbol.for('authkernel.made'))
  if (typeof tell === 'function') tell(make)
}
