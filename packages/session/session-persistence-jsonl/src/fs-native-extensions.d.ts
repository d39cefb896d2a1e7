declare module 'fs-native-extensions' {
  /** Takes an exclusive kernel lock on the open file without waiting; false when somebody else holds it. */
  export function tryLock(fd: number): boolean
}
