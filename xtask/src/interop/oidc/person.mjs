// The person with a browser: follows redirects with cookies, and submits the forms of the device grant.

const MAX_STEPS = 15;

export class Person {
  cookies = new Map();

  /** Opens an address, and follows all redirects and forms. Returns the last page. */
  async visit(address) {
    let request = { address };
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const { status, location, page } = await this.send(request);
      if (location) {
        request = { address: new URL(location, request.address).href };
      } else {
        const form = status === 200 ? readForm(page, request.address) : undefined;
        if (!form) return page;
        request = form;
      }
    }
    throw new Error('too many redirects');
  }

  async send({ address, fields }) {
    const { host } = new URL(address);
    const own = [...this.cookies].filter(([name]) => name.startsWith(`${host} `));
    const cookie = own.map(([name, value]) => `${name.split(' ')[1]}=${value}`).join('; ');
    const response = await fetch(address, {
      method: fields ? 'POST' : 'GET',
      body: fields && new URLSearchParams(fields),
      headers: { cookie },
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) {
      const [name, ...value] = line.split(';')[0].split('=');
      this.cookies.set(`${host} ${name}`, value.join('='));
    }
    const location = response.headers.get('location');
    return { status: response.status, location, page: await response.text() };
  }
}

/** Returns the form of a page with its hidden fields, if there is one. */
function readForm(page, address) {
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
  if (!action) return undefined;
  const fields = {};
  for (const [input] of page.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(input)?.[1];
    if (name) fields[name] = /value="([^"]*)"/.exec(input)?.[1] ?? '';
  }
  // The page that asks whether the device is the right one.
  if (page.includes('name="confirm"') || page.includes('name=\'confirm\'')) fields.confirm = 'yes';
  return { address: new URL(action.replaceAll('&amp;', '&'), address).href, fields };
}
