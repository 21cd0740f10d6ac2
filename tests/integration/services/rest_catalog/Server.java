import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import okhttp3.mockwebserver.Dispatcher;
import okhttp3.mockwebserver.MockResponse;
import okhttp3.mockwebserver.MockWebServer;
import okhttp3.mockwebserver.RecordedRequest;
import org.apache.paimon.rest.RESTCatalogServer;
import org.apache.paimon.catalog.TableMetadata;
import org.apache.paimon.rest.auth.BearTokenAuthProvider;
import org.apache.paimon.rest.responses.ConfigResponse;

/** Paimon's own server of a REST catalog: its address goes to standard output. Arguments: folder of the tables, name, token. */
public class Server {
    public static void main(String[] arguments) throws Exception {
        Map<String, String> defaults = new HashMap<>();
        defaults.put("prefix", "paimon");
        defaults.put("warehouse", arguments[1]);
        RESTCatalogServer server =
                new RESTCatalogServer(
                        arguments[0],
                        new BearTokenAuthProvider(arguments[2]),
                        new ConfigResponse(defaults, new HashMap<>()),
                        arguments[1]);
        MockWebServer http = get(server, "server");
        http.setDispatcher(new Moving(http.getDispatcher(), server));
        server.start();
        System.out.println("listens at " + server.getUrl());
        Thread.currentThread().join();
    }

    @SuppressWarnings("unchecked")
    private static <T> T get(Object of, String name) throws ReflectiveOperationException {
        Field field = RESTCatalogServer.class.getDeclaredField(name);
        field.setAccessible(true);
        return (T) field.get(of);
    }

    /**
     * A rename moves a table's files. Without this class, the server looks for its snapshots and files by the old name.
     * Requests are handled one at a time, because the server's maps must not be shared by threads.
     */
    private static class Moving extends Dispatcher {
        private static final List<String> STORES =
                List.of("tableLatestSnapshotStore", "tableWithSnapshotId2SnapshotStore", "tablePartitionsStore");
        private final Dispatcher inner;
        private final RESTCatalogServer server;

        Moving(Dispatcher inner, RESTCatalogServer server) {
            this.inner = inner;
            this.server = server;
        }

        @Override
        public synchronized MockResponse dispatch(RecordedRequest request) throws InterruptedException {
            boolean renames = request.getPath().endsWith("/tables/rename");
            String body = renames ? request.getBody().clone().readUtf8() : "";
            MockResponse response = inner.dispatch(request);
            if (renames && response.getStatus().contains("200")) {
                moved(body);
            }
            return response;
        }

        private static String fullName(JsonNode name) {
            return name.get("database").asText() + "." + name.get("object").asText();
        }

        private void moved(String body) {
            try {
                JsonNode names = new ObjectMapper().readTree(body);
                String from = fullName(names.get("source"));
                String to = fullName(names.get("destination"));
                Map<String, TableMetadata> tables = get(server, "tableMetadataStore");
                TableMetadata old = tables.get(to);
                Map<String, String> options = new HashMap<>(old.schema().options());
                String path = options.get("path");
                String folder = path.substring(0, path.lastIndexOf('/') + 1);
                options.put("path", folder + names.get("destination").get("object").asText());
                tables.put(to, new TableMetadata(old.schema().copy(options), old.isExternal(), old.uuid()));
                for (String store : STORES) {
                    Map<String, Object> entries = get(server, store);
                    for (String key : List.copyOf(entries.keySet())) {
                        if (key.equals(from) || key.startsWith(from + "-") || key.startsWith(from + "$")) {
                            entries.put(to + key.substring(from.length()), entries.remove(key));
                        }
                    }
                }
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }
    }
}
