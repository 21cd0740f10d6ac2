package dbt.paimon;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.sparkproject.connect.grpc.Metadata;
import org.sparkproject.connect.grpc.ServerCall;
import org.sparkproject.connect.grpc.ServerCallHandler;
import org.sparkproject.connect.grpc.ServerInterceptor;
import org.sparkproject.connect.grpc.Status;

/** Refuses calls whose header does not have the server's token. Compiled when the server starts (server_token.py). */
public final class TokenInterceptor implements ServerInterceptor {
  private final Metadata.Key header;
  private final byte[] token;

  public TokenInterceptor(String name, String token) {
    this.header = Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    this.token = token.getBytes(StandardCharsets.UTF_8);
  }

  public ServerCall.Listener interceptCall(ServerCall call, Metadata headers, ServerCallHandler next) {
    Object given = headers.get(this.header);
    // MessageDigest.isEqual takes as long for a wrong token as for a right one, so that its time reveals nothing.
    if (given != null && MessageDigest.isEqual(this.token, ((String) given).getBytes(StandardCharsets.UTF_8))) {
      return next.startCall(call, headers);
    }
    call.close(Status.UNAUTHENTICATED.withDescription("This server works for its owner alone."), new Metadata());
    return new Refused();
  }

  /** Listener of a refused call; does nothing. */
  static final class Refused extends ServerCall.Listener {}
}
