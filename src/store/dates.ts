/** Whether something is a `Date`, of another realm too: a VM context, a frame and a test runner each have a class of their own. */
export function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]'
}
