/** A WebSocket class whose sockets close at once, as a service that goes away does. `opened` gets the address of each. */
export const closingSocket = (opened: (url: string) => void) =>
  class {
    constructor(url: string) {
      opened(url);
    }
    addEventListener(type: string, listener: (event: any) => void): void {
      if (type === 'close') setImmediate(() => listener({ code: 1001, reason: '' }));
    }
    close(): void {}
  };
