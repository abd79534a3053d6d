// The authorization server: `oidc-provider`, which is certified for OpenID Connect. It approves every
// interaction at once, as a person would who always agrees.

import { createServer } from 'node:http';
import { randomBytes } from 'node:crypto';

/** Starts the provider on a free port. `resources` are the addresses that tokens may be for. */
export async function startProvider(Provider, resources) {
  const server = createServer();
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration(resources));
  // It warns about plain http, which is fine on this machine.
  const log = [];
  provider.on('grant.success', (ctx) => log.push(ctx.oidc.params.grant_type));
  provider.on('registration_create.success', () => log.push('registration'));
  provider.on('grant.revoked', () => log.push('revocation'));
  provider.on('server_error', (_, error) => console.error(error));
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (request.url.startsWith('/interaction/')) {
      approve(provider, request, response).catch((error) => response.destroy(error));
    } else {
      handle(request, response);
    }
  });
  return { issuer, provider, log, server };
}

function configuration(resources) {
  return {
    clients: [{
      client_id: 'robot',
      client_secret: 'robot-secret-4711',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
    }],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => {
          if (!resources().includes(resource)) throw new Error(`unknown resource ${resource}`);
          return { scope: 'tools', audience: resource, accessTokenFormat: 'opaque' };
        },
        useGrantedResource: () => true,
      },
      revocation: { enabled: true },
    },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: () => true,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access', 'tools'],
  };
}

/** Signs in, and agrees to everything that is asked for. */
async function approve(provider, request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  let result = { login: { accountId: 'ana' } };
  if (prompt.name === 'consent') {
    const grant = grantId
      ? await provider.Grant.find(grantId)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
    if (missingOIDCScope.length) grant.addOIDCScope(missingOIDCScope.join(' '));
    for (const [resource, scopes] of Object.entries(missingResourceScopes)) {
      grant.addResourceScope(resource, scopes.join(' '));
    }
    result = { consent: { grantId: await grant.save() } };
  }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}
